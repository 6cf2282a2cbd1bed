r"""Theorem 2 without its Lipschitz term: certifies the real, hard size.

**Statement.** Let e(x, ·, theta) in [0, 1] not decrease in tau. With probability at least 1 - gamma over D_N, for all
Q at once,

    E(Q) <= E_hat(Q) + sqrt((KL(Q‖P) + log(2n/gamma)) / (2 (n-1))).

*Proof.* Fix theta, and let e be right-continuous in tau, as closed level sets make it. A non-decreasing e(x, ·) with
values in [0, 1] is the conditional distribution function of some S
given x, so E(tau) - E_hat(tau) = E[F(tau) - F_n(tau) | x_1..x_n], F_n being the empirical distribution function of one
S_i for each x_i. Its supremum over tau is at most E[D | x_1..x_n] with D = sup (F - F_n), and by Jensen
E exp(2(n-1) (sup)₊²) <= E exp(2(n-1) D₊²). Since P(|D| > t) <= 2 exp(-2nt²) (Dvoretzky-Kiefer-Wolfowitz, with Massart's
constant), the latter is at most 1 + 2(n-1) <= 2n. Change of measure, Markov, and Jensen for the square.
"""

import numpy as np

from certiset.core.bounds.domain import Floats, Ints


def monotone(empirical: Floats, n: Ints, log_terms: Floats) -> Floats:
    """The bound, ``log_terms`` being KL + log(1/gamma); not above 1, which e never exceeds."""
    return np.minimum(empirical + complexity(n, log_terms), 1.0)


def complexity(n: Ints, log_terms: Floats) -> Floats:
    """sqrt((KL + log(2n/gamma)) / (2 (n-1)))."""
    nats = np.maximum(log_terms + np.log(2.0 * n), 0.0)
    return np.sqrt(nats / (2 * (n - 1.0)))
