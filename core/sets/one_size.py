"""Scores whose sets are all equally large at one threshold, by their names, for a reader who has only a certificate.

An auditor needs neither PyTorch nor the package that a score came with: the size of such sets is certified without a
bound only where this table says how it follows from the threshold. That of any other score is bounded like all sizes.
"""

from collections.abc import Callable
from dataclasses import dataclass

from certiset.core.bounds.errors import DomainError
from certiset.core.sets.balls import unit_ball_volume


@dataclass(frozen=True)
class OneSize:
    measure: str
    """as certificates state it"""
    of_unit: Callable[[int], float]
    """the size at the threshold 1, in so many dimensions"""
    is_power: bool = True
    """whether sizes grow with the threshold as often as there are dimensions, and not once"""

    def at(self, tau: float, dimensions: int | None) -> float:
        """The size of every set at that threshold, but for rounding."""
        if not self.is_power:
            return self.of_unit(1) * tau
        if dimensions is None or dimensions < 1:
            raise DomainError("the number of dimensions is needed for a volume.")
        return self.of_unit(dimensions) * max(tau, 0.0) ** dimensions


ONE_SIZE = {
    "residual": OneSize("width", lambda _: 2.0, is_power=False),
    "ball": OneSize("volume", unit_ball_volume),
    "box": OneSize("volume", lambda dimensions: 2.0**dimensions),
}


def one_size(score: str, measure: str) -> OneSize | None:
    """How the size of that score's sets follows from the threshold; None if there are several, or nobody knows."""
    found = ONE_SIZE.get(score)
    return found if found is not None and found.measure == measure else None
