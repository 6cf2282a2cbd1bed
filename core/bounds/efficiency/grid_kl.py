r"""The usually tightest bound: the threshold rounded up to a grid, and kl in place of a square root.

**Statement.** Fix from (theta, D_0) alone a grid t_1 < ... < t_G, and let t_{G+1} = +infinity, where e = 1. Let
t+(theta) be the smallest grid point that is at least tau(theta), and E_hat+(theta) the mean of e(x_i, t+(theta), theta)
over D_N.
For n >= 8, with probability at least 1 - gamma over D_N, for all Q at once,

    E(Q) <= kl_inverse( E_Q[E_hat+(theta)], (KL(Q‖P) + log(2 G sqrt(n) / gamma)) / n ).

*Proof.* For one grid point, E exp(n kl(E_hat_g ‖ E_g)) <= 2 sqrt(n) for n >= 8 (Maurer, 2004); the maximum over g of
these exponentials is at most their sum, so E exp(max_g n kl(E_hat_g‖E_g)) <= 2 G sqrt(n). Change of measure, Markov,
and joint convexity of kl. Last, e does not decrease in tau: E(theta, tau) <= E(theta, t+). At t_{G+1} both sides are 1.
"""

import numpy as np

from certiset.core.bounds.bernoulli_kl import upper_inverse
from certiset.core.bounds.domain import Floats, Ints


def grid_kl(empirical: Floats, n: Ints, log_terms: Floats, grid_size: Ints) -> Floats:
    """The bound, ``log_terms`` being KL + log(1/gamma) and ``empirical`` the mean with thresholds rounded up."""
    nats = np.maximum(log_terms + np.log(2.0 * grid_size * np.sqrt(n)), 0.0)
    return upper_inverse(empirical, nats / n)
