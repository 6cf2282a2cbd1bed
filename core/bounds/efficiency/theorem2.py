r"""The paper's Theorem 2.

**Statement.** Let scores be bounded by beta and e be L-Lipschitz in tau (1/(4T) for a size smoothed by a sigmoid of
temperature T). With probability at least 1 - gamma over D_N, for all Q at once,

    E(Q) <= E_hat(Q) + 2 beta L / sqrt(n) + sqrt((KL(Q‖P) + log(2n/gamma)) / (2 (n-1))).

*Proof.* The threshold depends on D_N, so the worst tau is taken: sup_tau [E(theta, tau) - E_hat(theta, tau)] has a mean
of at most the Rademacher complexity 2 beta L / sqrt(n) of the one-parameter class, concentrates around it as in
Maurer's lemma, and the change of measure carries it over to Q. See the paper's appendix.

The Lipschitz term alone is above 1 in most uses; `certiset.core.bounds.efficiency.monotone` does without it.
"""

import numpy as np

from certiset.core.bounds.domain import Floats, Ints
from certiset.core.bounds.efficiency.monotone import complexity


def theorem2(empirical: Floats, n: Ints, log_terms: Floats, score_bound: Floats, lipschitz: Floats) -> Floats:
    """The bound, ``log_terms`` being KL + log(1/gamma); not above 1, which e never exceeds."""
    lipschitz_term = 2 * score_bound * lipschitz / np.sqrt(n)
    return np.minimum(empirical + lipschitz_term + complexity(n, log_terms), 1.0)
