r"""All alpha at once: levels that hold for every rank of one score function together.

**Statement.** Let the score function be fixed before the n calibration points are seen, and L_k its miscoverage at
rank k. If u_1 <= u_2 <= ... are fixed such that, for the order statistics of n uniforms,

    P(U_(k) <= u_k for all k <= K) >= 1 - delta,

then with probability at least 1 - delta, for **all** alpha at once, L_k <= alpha at the largest rank k with u_k <=
alpha. So alpha may be chosen after sizes, sets and outcomes have been seen.

*Proof.* With F the distribution function of continuous scores, L_k = 1 - F(tau_k) is the k-th smallest of the uniforms
1 - F(s_i), jointly for all k (`beta.py`). On the event above, L_k <= u_k <= alpha for the k of any alpha, however it
was chosen. With ties compare (score, independent uniform number) instead: sets in that finer order lie within the real
ones, so that on every path each L_k is at most one that has exactly that law.

It is one alpha for all inputs. A rule that picks k by the input ("at most three labels here") is not covered: L_k is a
mean over inputs. And it is for one score function, not for a pool of them.

**Levels.** Equal local levels: u_k is the (1 - d) quantile of Beta(k, n+1-k), so that each rank has the same chance d
of being too optimistic, and d is the largest for which the joint chance is delta. Ranks go up to K = alpha_max (n+1):
the fewer there are, the larger d is. An alpha beyond u_K gets rank K.

**Numerics.** The joint chance is an upper bound (`crossing.py`) for the levels as they are, in floats; it is at most
delta, and within 2e-6 of it. Up to K = 2000 every rank has a level of its own. Beyond, 2000 ranks have, a constant
part of a standard deviation apart, and those between them get that of the next one: L_k <= L_j for k <= j. Solving
takes 4 or 5 joint chances: 0.01 s of one core at n = 200, 0.2 s at n = 6000, 2 s at n = 10^6. Beyond that the chances
of the ranks are added up: the margin is a third larger, 4 standard deviations instead of 3, of some 1e-4 each.
"""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainccinv

from certiset.core.bounds.crossing import crossing_probability
from certiset.core.bounds.domain import Floats, Ints, answer, count, one_number, open_unit, shown
from certiset.core.bounds.errors import DomainError, TooFewPointsError
from certiset.core.bounds.rank import calibration_rank, smallest_n_for_level

_MOST_LEVELS = 2000
_LARGEST_N = 10**7
"""up to which SciPy's quantiles are good"""
_SMALLEST_DELTA = 1e-100
_NEGLIGIBLE = 1e-7
_ACCURACY = 1e-6
_MOST_TRIALS = 60


def simultaneous_levels(n: int, delta: float, alpha_max: float = 0.3) -> Floats:
    """u_1, u_2, ..., u_K with K = floor(alpha_max (n+1)): with probability 1 - delta, L_k <= u_k for all k at once."""
    ranks, levels = _levels(*_arguments(n, delta, alpha_max))
    return np.repeat(levels, np.diff(ranks, prepend=0))


def simultaneous_rank(n: int, alpha: ArrayLike, delta: float, alpha_max: float = 0.3) -> int | Ints:
    """The largest k with u_k <= alpha, for one alpha or many; 0, a threshold of +infinity, where there is none."""
    wanted = open_unit("alpha", alpha)
    ranks, levels = _levels(*_arguments(n, delta, alpha_max))
    return answer(np.append(0, ranks)[np.searchsorted(levels, wanted, side="right")])


def simultaneous_grid(n: int, delta: float, alpha_max: float = 0.3) -> tuple[Ints, Floats]:
    """The ranks that have a level of their own, at most 2000, ascending, and these levels."""
    return _levels(*_arguments(n, delta, alpha_max))


@lru_cache(maxsize=32)
def _levels(n: int, delta: float, alpha_max: float) -> tuple[Ints, Floats]:
    """Ranks, and levels that hold for all of them at once."""
    ranks = _grid(int(calibration_rank(n, alpha_max)))
    levels = _local(n, ranks, _solve(n, ranks, delta))
    for array in (ranks, levels):
        array.flags.writeable = False
    return ranks, levels


def _grid(most: int) -> Ints:
    """All ranks up to ``most``, or some whose distances grow as their square roots, as deviations do."""
    if most <= _MOST_LEVELS:
        return np.arange(1, most + 1, dtype=np.int64)
    places = np.arange(1, _MOST_LEVELS + 1, dtype=np.int64) ** 2
    return np.unique(np.maximum(most * places // _MOST_LEVELS**2, 1))


def _local(n: int, ranks: Ints, d: float) -> Floats:
    """The (1 - d) quantile of each rank's law; never falling, whatever rounding does."""
    return np.maximum.accumulate(betainccinv(ranks.astype(np.float64), n + 1.0 - ranks, d))


def _solve(n: int, ranks: Ints, delta: float) -> float:
    """The largest d for which the joint chance is at most delta, to within the accuracy, by secants in log d."""
    # The first holds by the union bound; the second is what one rank alone may have.
    low, high = math.log(delta / ranks.size) - _ACCURACY, math.log(delta)

    def excess(log_d: float) -> float:
        levels = _local(n, ranks, math.exp(log_d))
        return math.log(crossing_probability(n, ranks, levels, _NEGLIGIBLE * delta) / delta)

    at, slope, before = max(high - math.log(20), low), 1.0, (math.nan, math.nan)
    for _ in range(_MOST_TRIALS):
        found = excess(at)
        if found > 0:
            high = at
        else:
            low = at
            if found >= -_ACCURACY:
                break
        secant = (found - before[1]) / (at - before[0])
        slope = secant if secant > 0 else slope
        before = at, found
        at -= (found + _ACCURACY / 2) / slope
        if not low < at < high:
            at = (low + high) / 2
            if at in (low, high):
                break
    return math.exp(low)


def _arguments(n: int, delta: float, alpha_max: float) -> tuple[int, float, float]:
    size = int(one_number("n", count("n", n, at_least=2)))
    risk = one_number("delta", open_unit("delta", delta))
    most = one_number("alpha_max", open_unit("alpha_max", alpha_max))
    if size > _LARGEST_N:
        raise DomainError(f"n must be at most {_LARGEST_N:,} for all levels at once, not {size:,}.", field="n")
    if risk < _SMALLEST_DELTA:
        raise DomainError(f"delta must be at least {_SMALLEST_DELTA:g}, not {shown(risk)}.", field="delta")
    needed = smallest_n_for_level(most)
    if size < needed:
        raise TooFewPointsError(
            f"n = {size} is too few for alpha_max = {most:g}: at least {needed} calibration points are needed.", needed
        )
    return size, risk, min(most, size / (size + 1))
