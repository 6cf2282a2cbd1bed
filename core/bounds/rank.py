"""From an empirical miscoverage to a rank, and from a rank to a threshold.

**Statement.** With k = floor((n+1) alpha_hat) and tau the (n+1-k)-th smallest calibration score, a fresh exchangeable
point has a score above tau with probability at most k / (n+1) <= alpha_hat.

*Proof.* The fresh score is equally likely to take any of the n+1 places among all scores; it exceeds the
(n+1-k)-th smallest of the others only if it takes one of the last k.

The threshold is always an order statistic, never an interpolated quantile: between two scores the statement says
nothing. A rank of 0 asks for the (n+1)-th smallest of n scores, and the only honest threshold then is +infinity.
"""

import math
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from certiset.core.bounds.domain import LARGEST_COUNT, Floats, Ints, answer, count, open_unit, real, shown, together
from certiset.core.bounds.errors import DomainError, TooFewPointsError

_ROUNDING = 4 * 2.0**-53
"""A level such as 0.29 or 3/7 carries half a unit in the last place, its product with n+1 another half."""


def calibration_rank(n: ArrayLike, alpha_hat: ArrayLike) -> int | Ints:
    """k = floor((n+1) alpha_hat), where a product that is whole but for float rounding counts as whole.

    ``calibration_rank(99, 0.29)`` is 29 although ``100 * 0.29`` is 28.999999999999996.
    """
    n_, levels = together(n=count("n", n), alpha_hat=open_unit("alpha_hat", alpha_hat))
    product = (n_ + 1.0) * levels
    nearest = np.rint(product)
    whole = np.abs(product - nearest) <= _ROUNDING * nearest
    ranks = np.where(whole, nearest, np.floor(product)).astype(np.int64)
    if np.any(ranks < 1):
        at = int(np.argmax(np.ravel(ranks < 1)))
        size, level = int(np.ravel(n_)[at]), float(np.ravel(levels)[at])
        needed = smallest_n_for_level(level)
        raise TooFewPointsError(
            f"n = {size} is too few for alpha_hat = {level:g}: at least {needed} calibration points are needed.",
            needed,
        )
    if np.any(ranks > n_):
        raise DomainError("alpha_hat must be at most n / (n+1): a rank beyond n leaves no score to be a threshold.")
    return answer(ranks)


def smallest_n_for_level(alpha_hat: float) -> int:
    """The smallest n for which `calibration_rank` is at least 1."""
    level = float(open_unit("alpha_hat", alpha_hat))
    if level * LARGEST_COUNT < 1:
        raise DomainError(f"alpha_hat = {shown(level)} is so small that no number of calibration points is enough.")
    needed = max(1, math.ceil(1 / Fraction(level)) - 1)
    # One less may do where 1 / alpha_hat is whole but for float rounding.
    below = needed * level
    return needed - 1 if needed > 1 and abs(below - 1) <= _ROUNDING else needed


def threshold_index(n: ArrayLike, k: ArrayLike) -> int | Ints:
    """n + 1 - k, counted from 1: which of the sorted scores is tau. For k = 0 it is n + 1: tau is +infinity."""
    n_, k_ = together(n=count("n", n), k=count("k", k, at_least=0))
    if np.any(k_ > n_):
        raise DomainError("k must be at most n.")
    return answer(n_ + 1 - k_)


def threshold(scores: ArrayLike, k: ArrayLike) -> float | Floats:
    """tau for each rank in ``k``: the (n+1-k)-th smallest of the n scores, +infinity where k = 0."""
    values = real("scores", scores)
    if values.ndim != 1 or values.size == 0:
        raise DomainError(f"scores must be a non-empty vector, not an array of shape {values.shape}.")
    places = np.asarray(threshold_index(values.size, k)) - 1
    inside = np.minimum(places, values.size - 1)
    ordered = np.partition(values, np.unique(inside))
    return answer(np.where(places < values.size, ordered[inside], np.inf))
