r"""A mean of sizes, bounded by betting: as tight as the sizes' own variance allows.

**Statement.** Let e_1..e_n in [0, 1] be independent with mean mu. Fix fractions 0 < f_1 < ... < f_J < 1, and for m in
[0, 1) let

    W(m) = (1/J) sum_j prod_i (1 - f_j (e_i - m) / (1 - m)).

Then with probability at least 1 - gamma, mu <= sup {m : W(m) < 1/gamma}.

*Proof.* Each factor is 1 - f_j + f_j (1 - e_i) / (1 - m): it is positive, has mean 1 at m = mu, and grows with m. So E
W(mu) = 1, and by Markov W(mu) >= 1/gamma with probability at most gamma. W grows with m: unless that happens, mu lies
below the point where W reaches 1/gamma. If mu = 1, every e_i is 1, every factor 1 - f_j, and the bound 1. (Betting on
one side, Waudby-Smith and Ramdas 2024. Bets that are fixed beforehand instead of chosen from the past cost little, and
W depends on how often each size occurs and not on the order: anyone who has the counts can recompute it.)

**Numerics.** In u = -log(1 - m) each factor's logarithm log(1 - f_j + f_j (1 - e_i) exp(u)) is convex, hence so is log
W. Newton's method on a convex increasing function stays above the root from its first step on. It runs on log W
lowered by more than its rounding error: the bound computed is never below the exact one.
"""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from certiset.core.bounds.domain import Floats, Ints, closed_unit, count, open_unit
from certiset.core.bounds.errors import DomainError

FRACTIONS: Floats = 0.005 * 196.0 ** (np.arange(32) / 31)
"""from 0.005 to 0.98, a constant factor apart"""
_AT_ONCE = 8192
_TERM_ERROR = 1e-12
"""of a sum of logarithms, relative to the sum of their absolute values"""
_VALUE_ERROR = 1e-15
"""of a value in [0, 1], generously"""
_CLOSE = 1e-12
_STEPS = 200
_LARGEST = 600.0


def mean_upper_bound(values: ArrayLike, gamma: float, *, counts: ArrayLike | None = None) -> float:
    """The level that the mean of independent ``values`` in [0, 1] stays below, except with probability gamma.

    With ``counts``, how often each of the values occurred.
    """
    return betting_bound(*occurrences(values, counts), -math.log(single_level("gamma", gamma)))


def betting_bound(values: Floats, counts: Ints, nats: float) -> float:
    """sup {m : log W(m) < nats}, rounded up; at least the mean of the values."""
    goal = max(nats, 0.0)
    mean = math.fsum(values * counts) / int(counts.sum())
    if mean >= 1:
        return 1.0
    u = -math.log1p(-mean)
    for _ in range(_STEPS):
        log_capital, slope = _lowered_log_capital(values, counts, u)
        step = (log_capital - goal) / slope
        close = _CLOSE * max(u, 1e-3)
        if 0 <= step <= close:
            return min(1.0, math.nextafter(-math.expm1(-u), 2.0))
        u = u - step if step > 0 else u - step + close / 2
        if u > _LARGEST:
            break
    return 1.0


def _lowered_log_capital(values: Floats, counts: Ints, u: float) -> tuple[float, float]:
    """log W at m = 1 - exp(-u), less what it may be off by, and its derivative in u."""
    logs, slopes, errors = np.zeros((3, FRACTIONS.size))
    for start in range(0, values.size, _AT_ONCE):
        often = counts[start : start + _AT_ONCE].astype(np.float64)
        e = values[start : start + _AT_ONCE]
        gains = FRACTIONS[:, None] * (math.expm1(u) * (1 - e) - e)  # (fractions, values)
        factors = np.log1p(gains)
        elasticity = (FRACTIONS[:, None] + gains) / (1 + gains)
        from_values = elasticity / np.maximum(1 - e, 1e-300) + FRACTIONS[:, None] * e / (1 + gains)
        logs += factors @ often
        errors += (_TERM_ERROR * np.abs(factors) + _VALUE_ERROR * from_values) @ often
        slopes += elasticity @ often
    lowered = logs - errors
    log_sum = float(logsumexp(lowered))
    return log_sum - math.log(FRACTIONS.size), float(np.exp(lowered - log_sum) @ slopes)


def occurrences(values: ArrayLike, counts: ArrayLike | None) -> tuple[Floats, Ints]:
    """The different values, and how often each occurs."""
    e = closed_unit("values", values)
    if e.ndim != 1 or e.size == 0:
        raise DomainError("values must be a non-empty list of numbers.", field="values")
    if counts is None:
        distinct, often = np.unique(e, return_counts=True)
        return distinct, often.astype(np.int64)
    often = count("counts", counts, at_least=0)
    if often.shape != e.shape:
        raise DomainError(f"{often.size} counts were given for {e.size} values: one per value.", field="counts")
    if not np.any(often):
        raise DomainError("counts must not all be 0.", field="counts")
    return e[often > 0], often[often > 0]


def single_level(name: str, value: float) -> float:
    number = open_unit(name, value)
    if number.ndim != 0:
        raise DomainError(f"{name} must be one number.", field=name)
    return float(number)
