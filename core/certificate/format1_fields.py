"""Which fields format 1 has: what later formats added is neither read from it nor written into it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from certiset.core.errors import DamagedFileError

_COVERAGE = (
    "alpha delta guarantee bound n kl kl_budget miscoverage_bound pool_miscoverage_bound pool_delta alpha_hat k draws "
    "ranks rank_weights union"
)
_MEMBER = "member k tau log_ratio miscoverage_bound efficiency_empirical efficiency_bound"
_EFFICIENCY = "measure bound gamma empirical upper_bound cap grid_size monte_carlo"
_PROVENANCE = "dataset_sha256 model_sha256 members_sha256 n_tune n_calibrate seed software device method score messages"


@dataclass(frozen=True)
class _Section:
    names: frozenset[str]
    inner: dict[str, "_Section"] = field(default_factory=dict)

    def check(self, content: Any, where: str) -> None:
        """That an object, or each object of a list, has these fields and no others; types are checked elsewhere."""
        if isinstance(content, list):
            for place, entry in enumerate(content):
                self.check(entry, f"{where}[{place}]")
        if not isinstance(content, Mapping):
            return
        for name in sorted(map(str, self.names ^ set(content))):
            problem = "is missing" if name in self.names else "is not known"
            raise DamagedFileError(f"{where}: field {name[:60]!r} {problem}.")
        for name, section in self.inner.items():
            section.check(content[name], f"{where}.{name}")

    def chosen(self, content: Any) -> Any:
        """The fields of format 1 alone, of an object or of each object of a list."""
        if isinstance(content, list):
            return [self.chosen(entry) for entry in content]
        return {
            name: self.inner[name].chosen(value) if name in self.inner else value
            for name, value in content.items()
            if name in self.names
        }


def _section(names: str, **inner: _Section) -> _Section:
    return _Section(frozenset(names.split()), inner)


_CERTIFICATE = _section(
    "id predictor_id issued_at statement assumptions coverage members efficiency provenance signature",
    coverage=_section(_COVERAGE, union=_section("choices weights taken")),
    members=_section(_MEMBER),
    efficiency=_section(_EFFICIENCY),
    provenance=_section(_PROVENANCE),
)


def only_format_1(content: dict[str, Any]) -> dict[str, Any]:
    """The JSON of a certificate without what later formats have beside it."""
    chosen: dict[str, Any] = _CERTIFICATE.chosen(content)
    return chosen


def as_current(content: Mapping[str, Any]) -> dict[str, Any]:
    """A certificate of format 1 in the shape that is read today; other fields than those of format 1 are refused."""
    _CERTIFICATE.check(content, "certificate")
    return {**content, "format": 1, "caveats": []}
