"""Every guarantee that a certificate can state, one result per file: pure float64 functions of numbers.

Each function takes numbers or arrays that broadcast against each other, and raises a `BoundsError` (a
``ValueError``) that says which argument lies outside its domain and why.

Notation: ``n`` calibration points not used for tuning, ``alpha`` the promised miscoverage, ``delta`` the chance that
the promise fails, ``k`` the calibration rank, ``kl`` = KL(Q‖P) in nats, L(Q) the miscoverage of the randomised
predictor.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from certiset.core.bounds.bernoulli_kl import binary_kl, kl_inverse, kl_inverse_of_mean
    from certiset.core.bounds.beta import beta_log_density, beta_tail
    from certiset.core.bounds.confidence_sequence import miscoverage_interval
    from certiset.core.bounds.covariate_shift import effective_number, thinning
    from certiset.core.bounds.coverage import PosteriorBound, RankBound, kl_budget, largest_rank, miscoverage_bound
    from certiset.core.bounds.efficiency import (
        EfficiencyBound,
        SizeCounts,
        efficiency_bound,
        grid_betting,
        mean_upper_bound,
        monte_carlo_mean,
        per_draw_efficiency_bound,
        size_quantile_rank,
    )
    from certiset.core.bounds.errors import BoundsError, DomainError, ExhaustedClassError, TooFewPointsError
    from certiset.core.bounds.groups import GroupShares, ShareRule, group_shares
    from certiset.core.bounds.label_shift import label_shift_draws, label_shift_rows
    from certiset.core.bounds.mean_supermartingale import MeanSupermartingale
    from certiset.core.bounds.per_draw import per_draw_budget, per_draw_rank
    from certiset.core.bounds.pool import pool_miscoverage_bound
    from certiset.core.bounds.pool_groups import PoolGroupShares, pool_group_shares
    from certiset.core.bounds.progressive import progressive_ranks, progressive_tail
    from certiset.core.bounds.rank import calibration_rank, smallest_n_for_level, threshold, threshold_index
    from certiset.core.bounds.simultaneous import simultaneous_grid, simultaneous_levels, simultaneous_rank
    from certiset.core.bounds.supermartingale import Supermartingale
    from certiset.core.bounds.vovk2a import smallest_n_2a, vovk_2a
    from certiset.core.bounds.vovk2b import smallest_n_2b, vovk_2b

__all__ = [
    "BoundsError",
    "DomainError",
    "EfficiencyBound",
    "ExhaustedClassError",
    "GroupShares",
    "MeanSupermartingale",
    "PoolGroupShares",
    "PosteriorBound",
    "RankBound",
    "ShareRule",
    "SizeCounts",
    "Supermartingale",
    "TooFewPointsError",
    "beta_log_density",
    "beta_tail",
    "binary_kl",
    "calibration_rank",
    "effective_number",
    "efficiency_bound",
    "grid_betting",
    "group_shares",
    "kl_budget",
    "kl_inverse",
    "kl_inverse_of_mean",
    "label_shift_draws",
    "label_shift_rows",
    "largest_rank",
    "mean_upper_bound",
    "miscoverage_bound",
    "miscoverage_interval",
    "monte_carlo_mean",
    "per_draw_budget",
    "per_draw_efficiency_bound",
    "per_draw_rank",
    "pool_group_shares",
    "pool_miscoverage_bound",
    "progressive_ranks",
    "progressive_tail",
    "simultaneous_grid",
    "simultaneous_levels",
    "simultaneous_rank",
    "size_quantile_rank",
    "smallest_n_2a",
    "smallest_n_2b",
    "smallest_n_for_level",
    "thinning",
    "threshold",
    "threshold_index",
    "vovk_2a",
    "vovk_2b",
]

# Loaded on first use: errors and names are asked for where SciPy need not be loaded.
_HOMES = {
    "BoundsError": "errors",
    "DomainError": "errors",
    "EfficiencyBound": "efficiency",
    "ExhaustedClassError": "errors",
    "GroupShares": "groups",
    "PoolGroupShares": "pool_groups",
    "PosteriorBound": "coverage",
    "RankBound": "coverage",
    "MeanSupermartingale": "mean_supermartingale",
    "ShareRule": "groups",
    "SizeCounts": "efficiency",
    "Supermartingale": "supermartingale",
    "TooFewPointsError": "errors",
    "beta_log_density": "beta",
    "beta_tail": "beta",
    "binary_kl": "bernoulli_kl",
    "calibration_rank": "rank",
    "effective_number": "covariate_shift",
    "efficiency_bound": "efficiency",
    "grid_betting": "efficiency",
    "group_shares": "groups",
    "kl_budget": "coverage",
    "kl_inverse": "bernoulli_kl",
    "kl_inverse_of_mean": "bernoulli_kl",
    "label_shift_draws": "label_shift",
    "label_shift_rows": "label_shift",
    "largest_rank": "coverage",
    "mean_upper_bound": "efficiency",
    "miscoverage_bound": "coverage",
    "miscoverage_interval": "confidence_sequence",
    "monte_carlo_mean": "efficiency",
    "per_draw_budget": "per_draw",
    "per_draw_efficiency_bound": "efficiency",
    "per_draw_rank": "per_draw",
    "pool_group_shares": "pool_groups",
    "pool_miscoverage_bound": "pool",
    "progressive_ranks": "progressive",
    "progressive_tail": "progressive",
    "simultaneous_grid": "simultaneous",
    "simultaneous_levels": "simultaneous",
    "simultaneous_rank": "simultaneous",
    "size_quantile_rank": "efficiency",
    "smallest_n_2a": "vovk2a",
    "smallest_n_2b": "vovk2b",
    "smallest_n_for_level": "rank",
    "thinning": "covariate_shift",
    "threshold": "rank",
    "threshold_index": "rank",
    "vovk_2a": "vovk2a",
    "vovk_2b": "vovk2b",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = found
    return found
