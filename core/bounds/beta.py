r"""The law of the miscoverage for one fixed score function.

**Statement.** Let theta be fixed before the n calibration points are seen, tau the (n+1-k)-th smallest of their
scores, and L = P(s(x, y; theta) > tau | D_N). If scores are continuous, L ~ Beta(k, n+1-k) exactly; with ties L is
stochastically smaller.

*Proof.* With F the scores' distribution function, F(s_i) are independent uniforms, and L = 1 - F(tau) is one minus
the (n+1-k)-th smallest of them, that is the k-th smallest of n uniforms: Beta(k, n+1-k). If F jumps, F(s_i) are
stochastically larger than uniforms, so L is smaller.

**Numerics.** With j = k - 1 and N = n - 1 the density is n times the probability of j successes in N trials, and

    log pmf = D(j, N) - N kl(j/N ‖ x),
    D(j, N) = ½ log(N / (2π j (N-j))) + ε(N) - ε(j) - ε(N-j)   (0 where j = 0 or j = N),

ε(m) = log m! - log(sqrt(2π m) (m/e)^m) being Stirling's error (Loader, 2000). No large terms cancel, where the
usual difference of log-gammas would lose seven digits at n = 10^8.
"""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincc

from certiset.core.bounds.bernoulli_kl import kl
from certiset.core.bounds.domain import Floats, Ints, answer, calibration, open_unit, together

_STIRLING_TABLE = np.array(
    [0.0] + [math.lgamma(m + 1) - (m + 0.5) * math.log(m) + m - 0.5 * math.log(2 * math.pi) for m in range(1, 16)]
)
_SMALLEST_DIRECT_TAIL = 1e-250
_FRACTION_TERMS = 10_000


def beta_log_density(n: ArrayLike, k: ArrayLike, x: ArrayLike) -> float | Floats:
    """The log-density of Beta(k, n+1-k) at x in (0, 1)."""
    sizes, ranks = calibration(n, k)
    n_, k_, x_ = together(n=sizes, k=ranks, x=open_unit("x", x))
    return answer(log_density(n_, k_, x_))


def beta_tail(n: ArrayLike, k: ArrayLike, alpha: ArrayLike, log: bool = False) -> float | Floats:
    """T_k(alpha) = P(Beta(k, n+1-k) > alpha): the chance that rank k misses more often than alpha.

    The same number is P(Binomial(n, alpha) <= k - 1). With ``log`` its logarithm, which does not underflow.
    """
    sizes, ranks = calibration(n, k)
    n_, k_, alpha_ = together(n=sizes, k=ranks, alpha=open_unit("alpha", alpha))
    return answer(log_tail(n_, k_, alpha_) if log else betaincc(k_, n_ + 1.0 - k_, alpha_))


def log_density(n: Ints, k: Ints, x: Floats) -> Floats:
    """`beta_log_density` on arrays of one shape, unchecked."""
    successes, trials = k - 1.0, n - 1.0
    return np.log(n) + log_peak(successes, trials) - trials * kl(successes / trials, x)


def log_peak(successes: Floats, trials: Floats) -> Floats:
    """D(j, N): the log-probability of j successes in N trials whose success rate is j / N."""
    failures = trials - successes
    edge = (successes == 0) | (failures == 0)
    product = np.where(edge, 1.0, successes * failures)
    smooth = 0.5 * np.log(trials / (2 * np.pi * product))
    error = _stirling_error(trials) - _stirling_error(successes) - _stirling_error(failures)
    return np.where(edge, 0.0, smooth + error)


def log_tail(n: Ints, k: Ints, alpha: Floats) -> Floats:
    """log T_k(alpha) on arrays of one shape, to full relative precision at both ends."""
    shape = n + 1.0 - k
    tail = np.asarray(betaincc(k, shape, alpha))
    with np.errstate(divide="ignore"):
        logs = np.where(tail > 0.5, np.log1p(-betainc(k, shape, alpha)), np.log(tail))
    deep = tail < _SMALLEST_DIRECT_TAIL
    if np.any(deep):
        logs = np.array(logs)
        logs[deep] = _log_deep_tail(n[deep], k[deep], alpha[deep])
    return np.asarray(logs)


def _log_deep_tail(n: Ints, k: Ints, alpha: Floats) -> Floats:
    """Far below the smallest float: density times the continued fraction of the incomplete beta function.

    I_x(a, b) = x^a (1-x)^b / (a B(a, b)) / (1 + d_1/(1 + d_2/(1 + ...))), evaluated by the modified Lentz
    recurrence. This deep in the tail the fraction converges within a few dozen terms.
    """
    a, b, x = n + 1.0 - k, k.astype(np.float64), 1 - alpha
    c = np.ones_like(x)
    d = 1 / (1 - (a + b) * x / (a + 1))
    value = d.copy()
    for m in range(1, _FRACTION_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d, c = 1 / (1 + even * d), 1 + even / c
        value = value * d * c
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d, c = 1 / (1 + odd * d), 1 + odd / c
        change = d * c
        value = value * change
        if np.all(np.abs(change - 1) < 1e-15):
            break
    return log_density(n, k, alpha) + np.log(alpha) + np.log1p(-alpha) - np.log(a) + np.log(value)


def _stirling_error(m: Floats) -> Floats:
    table = _STIRLING_TABLE[np.minimum(m, 15).astype(np.int64)]
    inverse = 1 / np.maximum(m, 1.0)
    square = inverse * inverse
    series = inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680)))
    return np.where(m < 16, table, series)
