"""Every guarantee that a certificate can state, one result a file: pure float64 functions of numbers.

Each function takes numbers or arrays that broadcast against each other, and raises a `BoundsError` (a
``ValueError``) that says which argument lies outside its domain and why.

Notation: ``n`` calibration points not used for tuning, ``alpha`` the promised miscoverage, ``delta`` the chance that
the promise fails, ``k`` the calibration rank, ``kl`` = KL(Q‖P) in nats, L(Q) the miscoverage of the randomised
predictor.
"""

from core.bounds.beta import beta_log_density, beta_tail
from core.bounds.binary_kl import binary_kl, kl_inverse, kl_inverse_of_mean
from core.bounds.confidence_sequence import miscoverage_interval
from core.bounds.coverage import PosteriorBound, RankBound, kl_budget, largest_rank, miscoverage_bound
from core.bounds.efficiency import (
    EfficiencyBound,
    efficiency_bound,
    monte_carlo_mean,
    per_draw_efficiency_bound,
)
from core.bounds.errors import BoundsError, DomainError, TooFewPointsError
from core.bounds.per_draw import per_draw_budget, per_draw_rank
from core.bounds.pool import pool_miscoverage_bound
from core.bounds.rank import calibration_rank, smallest_n_for_level, threshold, threshold_index
from core.bounds.supermartingale import Supermartingale
from core.bounds.vovk_2a import smallest_n_2a, vovk_2a
from core.bounds.vovk_2b import smallest_n_2b, vovk_2b

__all__ = [
    "BoundsError",
    "DomainError",
    "EfficiencyBound",
    "PosteriorBound",
    "RankBound",
    "Supermartingale",
    "TooFewPointsError",
    "beta_log_density",
    "beta_tail",
    "binary_kl",
    "calibration_rank",
    "efficiency_bound",
    "kl_budget",
    "kl_inverse",
    "kl_inverse_of_mean",
    "largest_rank",
    "miscoverage_bound",
    "miscoverage_interval",
    "monte_carlo_mean",
    "per_draw_budget",
    "per_draw_efficiency_bound",
    "per_draw_rank",
    "pool_miscoverage_bound",
    "smallest_n_2a",
    "smallest_n_2b",
    "smallest_n_for_level",
    "threshold",
    "threshold_index",
    "vovk_2a",
    "vovk_2b",
]
