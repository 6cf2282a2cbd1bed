"""The mean size of a predictor's sets, certified on fresh inputs without truths."""

import hashlib
import importlib.metadata
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Protocol, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from certiset.core.bounds import SizeCounts
from certiset.core.bounds.efficiency.betting import single_level
from certiset.core.certificate.content import EXACT, Caveat, CertificateContent
from certiset.core.certificate.fresh_groups import FreshGroup, shared_gamma
from certiset.core.certificate.fresh_sizes import (
    BOUND,
    KIND,
    FreshSizes,
    SizeProvenance,
    SizeStatement,
    size_assumptions,
    size_sentence,
    upper_bound_of,
)
from certiset.core.certificate.rounding import about
from certiset.core.data.similar_rows import SimilarRows, find_similar_rows
from certiset.core.errors import DataError, OptionError
from certiset.core.fit.precision import full_precision
from certiset.core.fit.scorer import Scorer
from certiset.core.sets import PredictionSets
from certiset.core.sets.measures import MEASURES

ROWS_AT_ONCE = 4096
_NEAR_CAP = 0.9
_SOFTWARE = ("certiset", "numpy", "scipy", "torch")

Seen = TypeVar("Seen")


class ServedMembers(Protocol[Seen]):
    """What is asked of a predictor; ``Seen`` is what its members have to know of inputs."""

    @property
    def scorer(self) -> Scorer: ...

    @property
    def certificate(self) -> CertificateContent: ...

    @property
    def device(self) -> torch.device: ...

    @property
    def members(self) -> int: ...

    @property
    def chances(self) -> NDArray[np.float64]: ...

    def seen(self, inputs: NDArray[Any], /) -> Seen: ...

    def sets_from(self, rows: Seen, member: int, /) -> PredictionSets: ...


def certify_size(
    predictor: ServedMembers[Seen],
    inputs: NDArray[Any],
    gamma: float,
    member: int | None,
    between: Callable[[], object] = lambda: None,
    codes: NDArray[np.int64] | None = None,
) -> SizeStatement:
    """For checked inputs; ``between`` is called between chunks, and may raise.

    ``codes`` are the groups of the inputs where groups have thresholds of their own; those of groups that have none
    are left out: everything is in their sets, as the certificate says.

    An input's size is the mean over the members, by their chance to be drawn: that has the mean of what is served, and
    varies less.
    """
    if predictor.certificate.levels is not None:
        raise OptionError(
            "This predictor's promise is for all alpha at once, and its certificate says how large sets are at each of "
            "them: a statement on fresh inputs needs a predictor that was calibrated at one alpha.",
            field="alpha",
        )
    risk = single_level("gamma", gamma)
    if member is not None and (type(member) is not int or not 0 <= member < predictor.members):
        raise OptionError(f"member must be from 0 to {predictor.members - 1}.", field="member")
    if len(inputs) < 2:
        raise DataError("At least two fresh inputs are needed to certify a mean size.", field="x")
    measure, cap = _measure(predictor)
    chances = predictor.chances if member is None else np.eye(predictor.members)[member]
    every = len(inputs)
    if codes is not None:
        finite = _has_threshold(predictor)[codes]
        inputs, codes = inputs[finite], codes[finite]
        if not len(inputs):
            raise DataError("None of the inputs is of a group that has a threshold.", field="x")
    cut, mean = _mean_sizes(predictor, inputs, chances, cap, between, codes)

    def counted(sizes: NDArray[np.float64]) -> SizeCounts:
        if not MEASURES[measure].is_count:
            return SizeCounts.of_capped(sizes, cap)
        many = np.count_nonzero(chances) > 1
        return SizeCounts.of_mean_labels(sizes, int(cap)) if many else SizeCounts.of_labels(sizes, int(cap))

    counts = counted(cut)
    share = risk if codes is None else shared_gamma(risk, len(np.unique(codes)))
    groups = None
    if codes is not None:
        own = {code: counted(cut[codes == code]) for code in np.unique(codes).tolist()}
        groups = [_group(predictor, code, found, share, cap) for code, found in own.items()]
    upper_bound = upper_bound_of(counts, share, cap)
    _check_worth_stating(measure, upper_bound, cap, mean)
    similar = find_similar_rows(inputs)
    certificate = predictor.certificate
    alike = member is not None or bool(np.all(chances == chances[0]))
    numbers = FreshSizes(
        measure=measure,
        bound=BOUND,
        gamma=risk,
        upper_bound=upper_bound,
        empirical=cap * counts.mean,
        cap=cap,
        members=predictor.members,
        rows=counts.rows,
        distinct_rows=similar.distinct,
        steps=counts.steps,
        counts=counts.to_json(),
        member=member,
        weights=None if alike else chances.tolist(),
        groups=groups,
        without=every - len(inputs) or None,
    )
    found = SizeStatement(
        kind=KIND,
        id="",
        predictor_id=certificate.predictor_id,
        issued_at=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        statement=size_sentence(numbers),
        assumptions=size_assumptions(),
        sizes=numbers,
        provenance=SizeProvenance(
            certificate_id=certificate.id,
            members_sha256=certificate.provenance.members_sha256,
            inputs_sha256=_sha256(inputs),
            software={name: importlib.metadata.version(name) for name in _SOFTWARE},
            predictor_sha256=certificate.provenance.predictor_sha256,
        ),
        signature=None,
        caveats=_caveats(similar),
    )
    return replace(found, id=found.digest_id)


@torch.inference_mode()
def _mean_sizes(
    predictor: ServedMembers[Seen],
    inputs: NDArray[Any],
    chances: NDArray[np.float64],
    cap: float,
    between: Callable[[], object],
    codes: NDArray[np.int64] | None,
) -> tuple[NDArray[np.float64], float]:
    """(rows,): each input's mean size over the members, cut at ``cap``; and the mean of all without the cut.

    The backbone runs once for all members.
    """
    cut, whole = np.zeros(len(inputs)), 0.0
    with full_precision(predictor.device):
        for start in range(0, len(inputs), ROWS_AT_ONCE):
            part = inputs[start : start + ROWS_AT_ONCE]
            rows = predictor.seen(part)
            for member in np.flatnonzero(chances).tolist():
                between()
                own = None if codes is None else codes[start : start + ROWS_AT_ONCE]
                size = _sizes(predictor, rows, member, own)
                cut[start : start + len(part)] += chances[member] * np.minimum(size, cap)
                whole += float(chances[member]) * float(size.sum())
    return np.minimum(cut, cap), whole / len(inputs)


def _sizes(
    predictor: ServedMembers[Seen], rows: Seen, member: int, codes: NDArray[np.int64] | None
) -> NDArray[np.float64]:
    if codes is None:
        return np.asarray(predictor.sets_from(rows, member).size, dtype=np.float64)
    found = np.zeros(len(codes))
    for code in np.unique(codes).tolist():
        every = np.asarray(predictor.sets_from(rows, member + predictor.members * code).size, dtype=np.float64)
        found[codes == code] = every[codes == code]
    return found


def _has_threshold(predictor: ServedMembers[Seen]) -> NDArray[np.bool_]:
    """(groups + 1,): whether a group has one; those that are not listed have none."""
    return np.array([*(group.tau is not None for group in predictor.certificate.groups or []), False])


def _group(predictor: ServedMembers[Seen], code: int, counts: SizeCounts, gamma: float, cap: float) -> FreshGroup:
    name = (predictor.certificate.groups or [])[code].name
    bound = upper_bound_of(counts, gamma, cap)
    return FreshGroup(name, counts.rows, cap * counts.mean, bound, counts.to_json())


def _measure(predictor: ServedMembers[Seen]) -> tuple[str, float]:
    """In which sizes are measured, and above which they are cut: as the certificate has it, fixed before the inputs."""
    efficiency = predictor.certificate.efficiency
    if MEASURES[efficiency.measure].is_count:
        return efficiency.measure, float(predictor.scorer.model.outputs)
    if efficiency.is_exact or any(group.bound == EXACT for group in predictor.certificate.groups or []):
        raise DataError(
            "Every interval of a member has the same width, which the certificate states: no inputs are needed for it."
        )
    if efficiency.cap is None:
        raise DataError(
            "The certificate names no size above which sizes are cut, so that their mean cannot be bounded: calibrate "
            "with the option size_cap."
        )
    return efficiency.measure, efficiency.cap


def _check_worth_stating(measure: str, upper_bound: float, cap: float, mean: float) -> None:
    """A count of labels has a natural maximum, so that nothing is cut."""
    if MEASURES[measure].is_count:
        return
    if upper_bound < mean:
        raise DataError(
            f"No mean size is certified: with sizes above {cap:.4g} counted as {cap:.4g} the bound would lie below the "
            f"mean size on these inputs, {mean:.4g}. A calibration with a larger size_cap may help."
        )
    if upper_bound > _NEAR_CAP * cap:
        raise DataError(
            f"No mean size is certified: the bound would be close to {cap:.4g}, above which sizes are cut, and say "
            "little. More inputs, or a calibration with a larger size_cap, may help."
        )


def _caveats(found: SimilarRows) -> list[Caveat]:
    """Copies are no new evidence."""
    said = {
        "equal_rows": ("have an equal one", found.equal),
        "near_equal_rows": ("are nearly equal to others", found.near),
    }
    return [
        Caveat(
            code,
            f"{about(share)} of the inputs {what}, as independent draws would not be: the statement counts "
            "each input as new evidence, and may be false. If inputs were copied, or several come from one patient, "
            "machine or video, take one of each.",
        )
        for code, (what, share) in said.items()
        if share
    ]


def _sha256(inputs: NDArray[Any]) -> str:
    digest = hashlib.sha256(f"{inputs.dtype.str}{inputs.shape}".encode())
    for start in range(0, len(inputs), ROWS_AT_ONCE):
        digest.update(np.ascontiguousarray(inputs[start : start + ROWS_AT_ONCE]).tobytes())
    return digest.hexdigest()
