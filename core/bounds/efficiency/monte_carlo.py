"""An expectation over Q, known only through M draws from it."""

import numpy as np
from numpy.typing import ArrayLike

from certiset.core.bounds.bernoulli_kl import kl_inverse
from certiset.core.bounds.domain import Floats, closed_unit, count, open_unit, together


def monte_carlo_mean(mean: ArrayLike, draws: ArrayLike, gamma: ArrayLike) -> float | Floats:
    """Bounds the expectation of a [0, 1]-valued quantity from above, with probability 1 - gamma over M draws.

    *Proof.* P(mean <= p) <= exp(-M kl(p‖mu)) for p <= mu (Chernoff and convexity of exp), so M kl(mean‖mu) is at most
    log(1/gamma) on one side with probability 1 - gamma; solve for mu.
    """
    mean_, draws_, gamma_ = together(
        mean=closed_unit("mean", mean), draws=count("draws", draws), gamma=open_unit("gamma", gamma)
    )
    return kl_inverse(mean_, -np.log(gamma_) / draws_)
