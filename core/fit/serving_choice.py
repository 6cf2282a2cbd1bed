"""Serving one member alone: the one whose sets are certified, or else measured, to be smallest.

**Why it is free.** Under a guarantee for each member, with probability at least 1 - delta *every* member that may be
served keeps the promise, and with probability at least 1 - gamma the size bounds of *all* of them hold, at once. Both
were paid for when their number, ``draws``, was fixed. Whatever rule picks one of them by looking at the calibration
rows picks one that keeps its promise and its bound. A promise for a mean over members says nothing of this kind about
any one of them: there the best one may be best because it covers too little.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from certiset.core.certificate.guarantees import GUARANTEES
from certiset.core.errors import OptionError

if TYPE_CHECKING:
    from certiset.core.fit.certification import Certified

_T = TypeVar("_T")


def check_best_is_promised(guarantee: str) -> None:
    """Raises an `OptionError` where the guarantee of that name is for a mean over members."""
    if all(one.promises_each_member for one in GUARANTEES.values() if one.name == guarantee):
        return
    raise OptionError(
        f"serve = best needs a promise for each member by itself, and guarantee {guarantee} is for the mean over all "
        "of them: one alone may miss more. Choose serve = random, or guarantee per_draw.",
        field="serve",
    )


def best_alone(certified: "Certified") -> "Certified":
    """The same choice with its best member only; ``draws`` stays, as all of them were paid for."""
    check_best_is_promised(certified.candidate.guarantee.name)
    candidate, calibrated = certified.candidate, certified.calibrated
    bounds = certified.member_bounds
    sizes = bounds if bounds is not None else calibrated.size
    best = min(range(len(sizes)), key=lambda place: (sizes[place], calibrated.size[place], place))

    def only(values: list[_T]) -> list[_T]:
        return values[best : best + 1]

    return replace(
        certified,
        candidate=replace(candidate.only(slice(best, best + 1)), pool=1),
        calibrated=replace(calibrated, **{name: only(values) for name, values in vars(calibrated).items()}),
        member_bounds=None if bounds is None else only(bounds),
        upper_bound=None if bounds is None else bounds[best],
        size_ranks=only(certified.size_ranks),
    )
