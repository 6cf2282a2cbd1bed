"""The certificate of a predictor: read strictly, and checked by its own numbers."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from certiset.core.certificate.card import certificate_card
from certiset.core.certificate.content import FORMAT, CertificateContent
from certiset.core.certificate.figures import budget, members
from certiset.core.certificate.format1_fields import as_current
from certiset.core.certificate.group_figures import coverage_by_group, sizes_by_group
from certiset.core.certificate.json_text import parse
from certiset.core.certificate.population import is_by_class
from certiset.core.certificate.strict_json import read
from certiset.core.certificate.verification import Verification, verify
from certiset.core.display import Card, Shown
from certiset.core.drawing import Drawing
from certiset.core.errors import DamagedFileError
from certiset.core.plotting import draw, one_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Figure: TypeAlias = Literal["budget", "members", "coverage_by_group", "sizes_by_group"]
_FIGURES: dict[Figure, Callable[[CertificateContent], Drawing]] = {
    "budget": budget,
    "members": members,
    "coverage_by_group": coverage_by_group,
    "sizes_by_group": sizes_by_group,
}


@dataclass(frozen=True, repr=False)
class Certificate(Shown, CertificateContent):
    """What a predictor promises, from which numbers, and how anyone can check them."""

    @classmethod
    def from_json(cls, source: Mapping[str, Any] | str) -> "Certificate":
        """Reads `to_json` back, from a mapping or JSON text; anything else is refused with the field's name."""
        content = parse(source, "the certificate") if isinstance(source, str) else source
        if isinstance(content, Mapping) and "format" not in content:
            content = as_current(content)
        elif isinstance(content, Mapping) and content["format"] != FORMAT:
            raise DamagedFileError(
                f"the certificate is of format {str(content['format'])[:20]}, and this version reads 1 and {FORMAT}."
            )
        return read(cls, content, "certificate")

    def verify(self, trusted: str | Collection[str] | None = None) -> Verification:
        """Recomputes every promise from the certificate's own numbers, and checks the signature.

        ``trusted`` is a public key in base64, or several: only they can make the answer true.
        """
        return verify(self, trusted)

    def plot(self, what: Figure = "budget", ax: "Axes | None" = None) -> "Axes":
        """Draws what it says, by Matplotlib: onto these axes, or those of a figure of its own.

        ``what``: the budget with the chosen point, the members, or coverage or size of every group.
        """
        return draw(_FIGURES[one_of(what, _FIGURES)](self), ax)

    def card(self) -> Card:
        return certificate_card(
            self,
            model=None if self.names is None else self.names.model,
            labels=None if self.model is None else self.model.labels,
            by_class=is_by_class(self),
            all_levels=self.levels is not None,
        )
