"""What the promise for Q says about the finite pool of draws that is really served."""

import numpy as np
from numpy.typing import ArrayLike

from certiset.core.bounds.bernoulli_kl import kl_inverse_of_mean
from certiset.core.bounds.domain import Floats, closed_unit, count, open_unit, together


def pool_miscoverage_bound(bound: ArrayLike, draws: ArrayLike, delta: ArrayLike) -> float | Floats:
    """Bounds the mean miscoverage of M stored draws by the bound on L(Q), with probability 1 - delta over the draws.

    **Statement.** Given D_N, draw theta_1..theta_M independently from Q. If L(Q) <= b, then with probability at least
    1 - delta, mean_m L(theta_m) <= max {p >= b : kl(p‖b) <= log(1/delta) / M}.

    *Proof.* The L(theta_m) are independent in [0, 1] with mean L(Q); by Chernoff and convexity of exp,
    P(mean >= p) <= exp(-M kl(p‖L(Q))) for p >= L(Q), and kl(p‖·) decreases on [0, p], so L(Q) may be replaced by b.

    The inversion is in the *first* argument of kl, the observed mean being the unknown here. Inverting in the second
    would be looser where mean and bound add up to less than 1, and wrong where they add up to more.
    """
    bound_, draws_, delta_ = together(
        bound=closed_unit("bound", bound), draws=count("draws", draws), delta=open_unit("delta", delta)
    )
    return kl_inverse_of_mean(bound_, -np.log(delta_) / draws_)
