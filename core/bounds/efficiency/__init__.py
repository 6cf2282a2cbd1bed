"""How large the sets will be: bounds on an efficiency e(x, tau, theta) in [0, 1] that does not decrease in tau."""

from certiset.core.bounds.efficiency.betting import mean_upper_bound
from certiset.core.bounds.efficiency.dispatch import EfficiencyBound, efficiency_bound, per_draw_efficiency_bound
from certiset.core.bounds.efficiency.grid_betting import grid_betting
from certiset.core.bounds.efficiency.monte_carlo import monte_carlo_mean
from certiset.core.bounds.efficiency.size_counts import SizeCounts
from certiset.core.bounds.efficiency.size_quantile import size_quantile_rank

__all__ = [
    "EfficiencyBound",
    "SizeCounts",
    "efficiency_bound",
    "grid_betting",
    "mean_upper_bound",
    "monte_carlo_mean",
    "per_draw_efficiency_bound",
    "size_quantile_rank",
]
