"""An expectation over Q, known only through M draws from it."""

import numpy as np
from numpy.typing import ArrayLike

from core.bounds.binary_kl import kl_inverse
from core.bounds.domain import Floats, count, open_unit


def monte_carlo_mean(mean: ArrayLike, draws: ArrayLike, gamma: ArrayLike) -> float | Floats:
    """Bounds the expectation of a [0, 1]-valued quantity from above, with probability 1 - gamma over M draws.

    *Proof.* P(mean <= p) <= exp(-M kl(p‖mu)) for p <= mu (Chernoff and convexity of exp), so M kl(mean‖mu) is at most
    log(1/gamma) on one side with probability 1 - gamma; solve for mu.
    """
    return kl_inverse(mean, -np.log(open_unit("gamma", gamma)) / count("draws", draws))
