"""Vovk (2012), Proposition 2a: a Hoeffding-type promise for one fixed score function."""

import math

import numpy as np
from numpy.typing import ArrayLike

from certiset.core.bounds.domain import Floats, Ints, answer, count, open_unit, together
from certiset.core.bounds.enough_points import enough_points
from certiset.core.bounds.errors import TooFewPointsError


def vovk_2a(n: ArrayLike, alpha: ArrayLike, delta: ArrayLike) -> float | Floats:
    """The alpha_hat to calibrate at so that P(L > alpha) <= delta: alpha - sqrt(log(1/delta) / (2n)).

    *Proof.* L > alpha means that fewer than k = floor((n+1) alpha_hat) of n independent points fall into a region of
    probability alpha, that is Binomial(n, alpha) <= (n+1) alpha_hat - 1 <= n alpha_hat. By Hoeffding this has
    probability at most exp(-2 n (alpha - alpha_hat)^2) = delta.
    """
    n_, alpha_, delta_ = together(
        n=count("n", n, at_least=2), alpha=open_unit("alpha", alpha), delta=open_unit("delta", delta)
    )
    levels = level_2a(n_, alpha_, delta_)
    useless = (n_ + 1) * levels < 1
    if np.any(useless):
        at = int(np.argmax(np.ravel(useless)))
        size, a, d = int(np.ravel(n_)[at]), float(np.ravel(alpha_)[at]), float(np.ravel(delta_)[at])
        needed = smallest_n_2a(a, d)
        raise TooFewPointsError(
            f"n = {size} is too few for alpha = {a:g}, delta = {d:g} by Vovk 2a: "
            f"at least {needed} calibration points are needed.",
            needed,
        )
    return answer(levels)


def level_2a(n: Ints, alpha: Floats, delta: Floats) -> Floats:
    """`vovk_2a` unchecked: below 1 / (n+1), perhaps negative, where n is too few."""
    return alpha - np.sqrt(-np.log(delta) / (2 * n))


def smallest_n_2a(alpha: float, delta: float) -> int:
    """The smallest n for which the level reaches rank 1: (n+1) vovk_2a(n) >= 1.

    (n+1) (alpha - c / sqrt(n)) >= 1 is a cubic in sqrt(n); its left side grows with n once it is positive, so the
    smallest n is found by bisection.
    """

    a, nats = float(open_unit("alpha", alpha)), -math.log(float(open_unit("delta", delta)))

    def reaches_rank_one(n: int) -> bool:
        return (n + 1) * (a - math.sqrt(nats / (2 * n))) >= 1

    return enough_points(reaches_rank_one, a)
