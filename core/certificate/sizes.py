"""What may be said about the size of the sets: for every stored member, all at once, and thereby for their mixture."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from certiset.core.bounds import EfficiencyBound, SizeCounts, per_draw_efficiency_bound, size_quantile_rank
from certiset.core.bounds.domain import Floats, Ints
from certiset.core.sets.measures import MEASURES

GRID_BETTING = "grid_betting"
QUANTILE_SHARE = 0.1
"""of future sets, which may be larger than the certified quantile"""
NO_CAP = (
    "No mean size is certified: sizes have no largest value, and nothing fixed one before the calibration rows were "
    "seen. With the option size_cap there is one."
)
_NEAR_CAP = 0.9


@dataclass(frozen=True)
class SizeNumbers:
    """What bounds on the size are computed from."""

    log_ratios: Floats
    """(members,): of draws from a posterior; 0 for parameters that do not depend on D_N"""
    n: int
    gamma: float
    """the share of gamma that the choice was given"""
    draws: int
    """how many members were drawn, served or not"""
    grid_size: int | None
    drawn: bool = False
    """whether the members were drawn from a posterior, which may depend on D_N"""

    def mean_bounds(self, means: Floats, bound: EfficiencyBound) -> Floats:
        """(members,): on the mean of min(size / cap, 1), given what it is on D_N."""
        return np.asarray(
            per_draw_efficiency_bound(
                means, self.n, self.gamma, self.log_ratios, self.draws, bound, grid_size=self.grid_size
            )
        )

    def betting_bounds(self, counts: Sequence[SizeCounts]) -> Floats:
        """(members,): the same from how often each size occurred at each member's grid point; 1 without a grid."""
        if self.grid_size is None:
            return np.ones(len(counts))
        each = zip(counts, self.log_ratios.tolist(), strict=True)
        bounds = [found.grid_upper_bound(self.gamma, self.grid_size, self.draws, rho) for found, rho in each]
        return np.array(bounds)

    def quantile_ranks(self, share: float = QUANTILE_SHARE, sizes: int | None = None) -> Ints:
        """(members,): which of the sizes on D_N, counted from the largest, at most that share of sets exceeds.

        ``sizes`` is the number of sizes that are open to it; without it, thresholds are rounded up to their grid. 0
        where there are too few points, or nothing was fixed beforehand.
        """
        points = sizes or self.grid_size
        if points is None:
            return np.zeros(len(self.log_ratios), dtype=np.int64)
        if not self.drawn:
            rank = size_quantile_rank(self.n, share, self.gamma, draws=self.draws, grid_size=points)
            return np.full(len(self.log_ratios), rank, dtype=np.int64)
        return np.atleast_1d(size_quantile_rank(self.n, share, self.gamma, self.log_ratios, self.draws, points))


def reason_against(measure: str, upper_bound: float, cap: float, measured: float) -> str | None:
    """Why a bound on the mean of sizes that are cut at ``cap`` should not be stated; None where it may be.

    A count of labels has a natural maximum, so that nothing is cut.
    """
    if MEASURES[measure].is_count:
        return None
    if upper_bound < measured:
        return (
            f"No mean size is certified: with sizes above {cap:.4g} counted as {cap:.4g} the bound would lie below the "
            f"mean size on the calibration rows, {measured:.4g}. A larger size_cap may help."
        )
    if upper_bound > _NEAR_CAP * cap:
        return (
            f"No mean size is certified: the bound would be close to {cap:.4g}, above which sizes are cut, and say "
            "little. A larger size_cap may help."
        )
    return None
