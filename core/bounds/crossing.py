r"""The chance that order statistics of uniforms cross a boundary, computed from above.

**Statement.** Let U_(1) < ... < U_(n) be the order statistics of n independent uniforms, g_1 < ... < g_G ranks and 0 <
u_1 <= ... <= u_G <= 1. `crossing_probability` is at least P(U_(g_i) > u_i for some i); up to n = 10^6 it exceeds it by
a millionth part at most, and by what it is told to be negligible.

*Proof.* U_(g) <= u if and only if N(u), the number of uniforms up to u, is at least g. Given that a Poisson process of
rate n has n points in [0, 1], they are n independent uniforms; so the points may be those of the process, whose
increments are independent. Let a_i(j) = P(N(u_1) >= g_1, ..., N(u_i) >= g_i, N(u_i) = j). This is a_{i-1} convolved
with the Poisson law of mean n (u_i - u_{i-1}), without the states below g_i. Each of those, times the chance P(n - j
points in (u_i, 1]) / P(n points in [0, 1]) that there are n points in the end, is a way in which i is the first to be
crossed. These ways exclude each other; the answer is their sum.

Far states and far increments are left out, and what they may add is added. Given n points, N(u) is Binomial(n, u) and
an increment Binomial(n, p), and for B ~ Binomial(n, p), P(B > np + sqrt(2 n p (1-p) x) + 2x/3) <= exp(-x) (Bernstein)
and P(B < np - sqrt(2 n p x)) <= exp(-x).

**Numerics.** All terms are positive and nothing is subtracted, so that small chances are as accurate as large ones.
The relative error is at most the sum of those of all steps: w 2^-53 for a convolution with w terms, a few 2^-53 times
the largest logarithm for a Poisson probability. For n <= 10^6 and G <= 2000 that is below 1e-7; 1e-6 is added. A call
takes (states) x (increments) multiplications for each rank, with about 10 sqrt(n u) states: for ranks up to 0.3 (n+1)
0.1 million in all at n = 200, 15 million at n = 6000, 1.2 thousand million at n = 10^6 and G = 2000 (about 0.4 s). For
larger n it is the sum of the chances of the ranks alone, an upper bound too.
"""

import math

import numpy as np
from scipy.special import betaincc, gammaln

from certiset.core.bounds.domain import Floats, Ints

_LARGEST_N = 10**6
"""that is counted through"""
_ROUNDING = 1e-6


def crossing_probability(n: int, ranks: Ints, levels: Floats, negligible: float) -> float:
    """An upper bound on P(U_(g) > u for some rank g and its level u); ``negligible`` may be left out, and is added."""
    if levels[0] <= 0:
        return 1.0
    g, u = _conditions(ranks, levels)
    if u.size == 0:
        return negligible
    if n > _LARGEST_N:
        return min(float(betaincc(g, n + 1.0 - g, u).sum()) * (1 + _ROUNDING), 1.0)
    nats = math.log(3 * u.size / negligible)
    last = np.floor(n * u + np.sqrt(2 * n * u * (1 - u) * nats) + 2 * nats / 3).astype(np.int64)
    means = n * np.diff(u, prepend=0.0)
    spread = np.sqrt(2 * means * nats)
    least = np.ceil(np.maximum(means - spread, 0)).astype(np.int64)
    most = np.minimum(np.floor(means + spread + 2 * nats / 3), n).astype(np.int64)
    log_factorials = gammaln(np.arange(int(most.max()) + 1) + 1.0)
    crossed, first, masses = 0.0, 0, np.ones(1)  # of the states first, first + 1, ...
    for i in range(u.size):
        steps = np.arange(least[i], most[i] + 1)
        masses = np.convolve(masses, np.exp(steps * math.log(means[i]) - means[i] - log_factorials[steps]))
        first += int(least[i])
        below = int(g[i]) - first
        if below > 0:
            out = masses[:below]
            crossed += float(out @ _completion(n, first + np.arange(out.size), float(u[i])))
            masses, first = masses[below:], int(g[i])
        masses = masses[: max(int(last[i]) + 1 - first, 0)]
        if masses.size == 0:
            break
    return min((crossed + negligible) * (1 + _ROUNDING), 1.0)


def _conditions(ranks: Ints, levels: Floats) -> tuple[Ints, Floats]:
    """Without those that others imply: a level of 1 is never crossed, and of equal levels the largest rank counts."""
    counts = (levels < 1) & np.append(np.diff(levels) > 0, True)
    return ranks[counts], levels[counts]


def _completion(n: int, points: Ints, level: float) -> Floats:
    """P(n - j points in (u, 1]) / P(n points in [0, 1]) for Poisson processes of rate n; j is ``points``."""
    rest, mean = n - points, n * (1 - level)
    log_whole = n * math.log(n) - n - float(gammaln(n + 1.0))
    return np.exp(rest * math.log(mean) - mean - gammaln(rest + 1.0) - log_whole)
