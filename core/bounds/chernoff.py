r"""Our bound for the randomised predictor, with a budget never smaller than the paper's.

**Statement.** Let lambda > 0, a rank k and a prior P be fixed before D_N is seen. With probability at least 1 - delta
over D_N, for all posteriors Q at once,

    L(Q) <= (KL(Q‖P) + log M(lambda) + log(1/delta)) / lambda,    M(lambda) = E exp(lambda Beta(k, n+1-k)).

*Proof.* lambda L(Q) = E_Q[lambda L] <= KL(Q‖P) + log E_P exp(lambda L) by the change of measure of Donsker and
Varadhan; there is no Jensen step to lose in, the function being linear. E_D E_P exp(lambda L) <= M(lambda), since for
each fixed theta L has at most the law Beta(k, n+1-k) and exp(lambda ·) increases. Markov.

**Budget.** L(Q) <= alpha is promised while KL(Q‖P) <= sup_lambda [lambda alpha - log M(lambda)] - log(1/delta). The
best lambda depends on (n, k, alpha) only, so it *is* fixed before the data, and no union bound is due. Where
alpha <= k/(n+1), the mean of the law, the supremum is 0 and the budget log(delta) < 0.

The level promised for *another* divergence than the whole budget is a straight line in KL, touching alpha at the
budget; far beyond the budget the paper's curve may lie below it.

**Optimality.** Any convex phi in place of lambda· has a tangent of slope lambda at alpha, and
phi(alpha) - log E exp(phi(L)) <= lambda alpha - log M(lambda). The paper's (n-1) kl₊(a‖·) is one such phi.
"""

import numpy as np

from certiset.core.bounds.domain import Floats, Ints
from certiset.core.bounds.tilted_beta import tilt_for_peak, tilted_beta

_NEWTON_STEPS = 20
_NEGLIGIBLE_NATS = 1e-13
_SEARCH_STEPS = 60
_CLOSE = 1e-9
_LOG_TILT_MARGIN = 6.0
_LARGEST_LOG_TILT = 32.0  # beyond, the tilted law sits within rounding of 1, and so does every level


def chernoff_budget(n: Ints, k: Ints, alpha: Floats, delta: Floats) -> Floats:
    """The largest KL(Q‖P) for which L(Q) <= alpha is promised."""
    return best_tilt(n, k, alpha)[1] + np.log(delta)


def chernoff_bound(n: Ints, k: Ints, delta: Floats, kl: Floats, alpha: Floats | None) -> Floats:
    """The promised L(Q) for a posterior that spent ``kl`` nats, with lambda fixed by (n, k, delta, alpha).

    lambda is the best one for alpha. If alpha is not given, or is so small that not even the prior can be
    promised alpha, it is the best one for the smallest level that the prior can be promised.
    """
    if alpha is None:
        tilt, level = _tilt_of_prior(n, k, delta)
    else:
        tilt, rate = best_tilt(n, k, alpha)
        level, hopeless = alpha, rate + np.log(delta) < 0
        if np.any(hopeless):
            fallback, fallback_level = _tilt_of_prior(n, k, delta)
            tilt, level = np.where(hopeless, fallback, tilt), np.where(hopeless, fallback_level, level)
    moments = _ravelled(n, k, tilt, level)
    # (kl + log M + log(1/delta)) / lambda, with log M = log E exp(lambda (L - level)) + lambda level
    return np.minimum(level + (kl + moments[0] - np.log(delta)) / tilt, 1.0)


def best_tilt(n: Ints, k: Ints, alpha: Floats) -> tuple[Floats, Floats]:
    """The lambda that attains sup [lambda alpha - log M(lambda)], and the supremum; both 0 where alpha <= k/(n+1).

    The derivative vanishes where the tilted mean is alpha. Newton's method, from the lambda whose tilted law
    peaks at alpha; the supremum is flat there, so lambda's last digits do not matter, and any lambda is valid.
    """
    useful = alpha * (n + 1) > k
    tilt = np.where(useful, tilt_for_peak(n, k, np.where(useful, alpha, 0.5)), 1.0)
    log_moment: Floats = np.zeros(n.shape)
    for _ in range(_NEWTON_STEPS):
        log_moment, excess, variance = _ravelled(n, k, tilt, alpha)
        shortfall = np.where(useful, excess * excess / variance, 0.0)  # twice what is still to be gained, in nats
        moved = tilt - excess / variance
        tilt = np.where(useful, np.where(moved > 0, moved, 0.5 * tilt), tilt)
        if np.all(shortfall <= _NEGLIGIBLE_NATS):
            break
    return np.where(useful, tilt, 0.0), np.where(useful, np.maximum(-log_moment, 0.0), 0.0)


def _tilt_of_prior(n: Ints, k: Ints, delta: Floats) -> tuple[Floats, Floats]:
    """The lambda, and the level, at which the budget is 0: what the prior itself can be promised.

    The rate lambda m - log M(lambda) at the tilted mean m grows with lambda, roughly as its square, so Newton's
    method runs on the logarithms of both, and bisection takes over where a step does not halve the error. Any
    lambda is valid; the last digits do not matter.
    """
    mean = k / (n + 1.0)
    goal = -np.log(delta)
    gaussian = 0.5 * np.log(2 * goal * (n + 2.0) / (mean * (1 - mean)))
    low, high = gaussian - _LOG_TILT_MARGIN, np.full(n.shape, _LARGEST_LOG_TILT)
    log_tilt, level, last = np.minimum(gaussian, _LARGEST_LOG_TILT), mean, np.full(n.shape, np.inf)
    for _ in range(_SEARCH_STEPS):
        tilt = np.exp(log_tilt)
        log_moment, excess, variance = _ravelled(n, k, tilt, mean)
        level = np.clip(mean + excess, 0.0, 1.0)
        rate = np.maximum(tilt * excess - log_moment, 1e-300)
        miss = np.log(rate / goal)
        if np.all((np.abs(miss) < _CLOSE) | (log_tilt >= _LARGEST_LOG_TILT)):
            break
        low, high = np.where(miss < 0, log_tilt, low), np.where(miss < 0, high, log_tilt)
        newton = log_tilt - miss * rate / (tilt * tilt * variance)
        good = (newton > low) & (newton < high) & (np.abs(miss) < 0.5 * last)
        log_tilt, last = np.where(good, newton, 0.5 * (low + high)), np.abs(miss)
    return np.exp(log_tilt), level


def _ravelled(n: Ints, k: Ints, tilt: Floats, alpha: Floats) -> tuple[Floats, Floats, Floats]:
    moments = tilted_beta(n.ravel(), k.ravel(), tilt.ravel(), alpha.ravel())
    return (
        moments.log_moment.reshape(n.shape),
        moments.excess.reshape(n.shape),
        moments.variance.reshape(n.shape),
    )
