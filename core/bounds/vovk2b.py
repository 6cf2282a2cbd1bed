"""Vovk (2012), Proposition 2b: the exact promise for one fixed score function."""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certiset.core.bounds.beta import log_tail
from certiset.core.bounds.domain import LARGEST_COUNT, Floats, Ints, answer, count, open_unit, shown, together
from certiset.core.bounds.errors import DomainError, TooFewPointsError


def vovk_2b(n: ArrayLike, alpha: ArrayLike, delta: ArrayLike) -> int | Ints:
    """The largest rank k with T_k(alpha) = P(Beta(k, n+1-k) > alpha) <= delta.

    *Proof.* L ~ Beta(k, n+1-k) (see `beta.py`), so this is P(L > alpha) <= delta, read backwards. The law is
    exact for continuous scores: no larger rank has the promise. T_k grows with k, so the integer is found by
    bisection and not over a grid of levels.
    """
    n_, alpha_, delta_ = together(
        n=count("n", n, at_least=2), alpha=open_unit("alpha", alpha), delta=open_unit("delta", delta)
    )
    ranks = largest_rank_2b(n_, alpha_, np.log(delta_))
    if np.any(ranks < 1):
        at = int(np.argmax(np.ravel(ranks < 1)))
        size, a, d = int(np.ravel(n_)[at]), float(np.ravel(alpha_)[at]), float(np.ravel(delta_)[at])
        needed = smallest_n_2b(a, d)
        raise TooFewPointsError(
            f"n = {size} is too few for alpha = {a:g}, delta = {d:g}: at least {needed} calibration points are needed.",
            needed,
        )
    return answer(ranks)


def smallest_n_2b(alpha: float, delta: float) -> int:
    """The smallest n for which rank 1 keeps the promise: T_1(alpha) = (1 - alpha)^n <= delta."""
    a, log_delta = open_unit("alpha", alpha), np.log(open_unit("delta", delta))
    estimate = float(log_delta / np.log1p(-a))
    if estimate > LARGEST_COUNT / 2:
        raise DomainError(f"alpha = {shown(a)} is so small that no number of calibration points is enough.")

    def keeps(n: int) -> bool:
        return bool(log_tail(np.asarray(n), np.asarray(1), a) <= log_delta)

    # The estimate is off by rounding at most; whether n does is decided as `vovk_2b` decides it.
    needed = max(2, math.floor(estimate * (1 - 1e-12)) - 1)
    while not keeps(needed):
        needed += 1
    return needed


def largest_rank_2b(n: Ints, alpha: Floats, log_delta: Floats) -> Ints:
    """`vovk_2b` on arrays of one shape and for any log(delta); 0 where no rank keeps the promise."""
    return bisect_ranks(n, lambda k: log_tail(n, k, alpha) <= log_delta)


def bisect_ranks(n: Ints, holds: Callable[[Ints], NDArray[np.bool_]]) -> Ints:
    """The largest k in 1..n for which ``holds``, which must be true up to some rank and false beyond; else 0."""
    low, high = np.zeros_like(n), n + 1
    while np.any(high - low > 1):
        middle = np.clip((low + high) // 2, 1, n)
        good = holds(middle)
        open_ = high - low > 1
        low, high = np.where(open_ & good, middle, low), np.where(open_ & ~good, middle, high)
    return low
