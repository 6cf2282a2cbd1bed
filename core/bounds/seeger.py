r"""The paper's bound (Theorem 1 and its Corollary).

**Statement.** Let P be a prior that does not depend on D_N, k a rank fixed beforehand, a = (k-1)/(n-1), and B the
density of Beta(k, n+1-k) at a. With probability at least 1 - delta over D_N, for all posteriors Q at once,

    (n-1) kl₊(a ‖ L(Q)) <= KL(Q‖P) + log(B / delta),

kl₊(a‖q) being kl(a‖q) for q > a and 0 otherwise.

*Proof.* kl₊(a‖·) is convex, so by Jensen and the change of measure of Donsker and Varadhan,
(n-1) kl₊(a‖L(Q)) <= KL(Q‖P) + log E_P exp((n-1) kl₊(a‖L)), and by Markov the last term is at most
log(E_D E_P exp(...) / delta). For fixed theta, L has at most the law Beta(k, n+1-k), whose density is
B exp(-(n-1) kl(a‖x)); exp((n-1) kl₊(a‖x)) does not decrease in x, so ties do no harm, and its mean is at most
∫ B dx = B.

**Reading it backwards** gives the budget (n-1) kl₊(a‖alpha) - log(B/delta). Where a < alpha the two terms are
together minus the log-density of Beta(k, n+1-k) *at alpha*:

    budget = log(delta / density(alpha)),

which is how it is computed. Where a >= alpha the first term is 0 and B >= 1, so that the budget is negative: no
posterior, not even the prior, can be promised. (The two-sided kl would grow again and promise anything.)
"""

import numpy as np

from certiset.core.bounds.bernoulli_kl import upper_inverse
from certiset.core.bounds.beta import log_density, log_peak
from certiset.core.bounds.domain import Floats, Ints


def seeger_budget(n: Ints, k: Ints, alpha: Floats, delta: Floats) -> Floats:
    """The largest KL(Q‖P) for which L(Q) <= alpha is promised. Its sign alone matters where it is negative."""
    mode = (k - 1.0) / (n - 1.0)
    return np.log(delta) - np.where(mode < alpha, log_density(n, k, alpha), _log_peak_density(n, k))


def seeger_bound(n: Ints, k: Ints, delta: Floats, kl: Floats) -> Floats:
    """The promised L(Q) for a posterior that spent ``kl`` nats."""
    nats = np.maximum(kl + _log_peak_density(n, k) - np.log(delta), 0.0)
    return upper_inverse((k - 1.0) / (n - 1.0), nats / (n - 1.0))


def _log_peak_density(n: Ints, k: Ints) -> Floats:
    """log B, the exact log-density of Beta(k, n+1-k) at its mode."""
    return np.log(n) + log_peak(k - 1.0, n - 1.0)
