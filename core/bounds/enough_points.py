"""How many calibration points a promise needs, where no formula says so: by doubling, then bisection."""

from collections.abc import Callable

from certiset.core.bounds.domain import LARGEST_COUNT, shown
from certiset.core.bounds.errors import DomainError


def enough_points(holds: Callable[[int], bool], alpha: float, *, too_few: int = 1, most: float = LARGEST_COUNT) -> int:
    """The smallest number above ``too_few`` for which ``holds``, which stays true once it is; none is tried twice.

    A `DomainError` if more than ``most`` would be needed.
    """
    low, high = too_few, 2 * too_few
    while not holds(high):
        if high > most:
            raise DomainError(f"alpha = {shown(alpha)} is so small that no number of calibration points is enough.")
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
