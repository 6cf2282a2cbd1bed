r"""A quantile of the size, without a cap: at most a share beta of future sets is larger than s.

**Statement.** Let theta_1..theta_M be drawn from Q, rho = log q(theta) - log p(theta), and let a grid of G thresholds
be fixed from (theta, D_0) alone. For draw m let t+ be the smallest grid point that is at least tau, and s the
(n+1-k)-th smallest size on D_N at t+, where k is the largest rank with

    log T_k(beta) + rho(theta_m) <= log(gamma / (M G)),      T_k(beta) = P(Beta(k, n+1-k) > beta).

With probability at least 1 - gamma over D_N and the draws, for every m at once, P(size > s) <= beta.

*Proof.* At one fixed grid point, sizes of D_N are independent draws of a real number, and P(size > s), with a strict >,
is Beta(k, n+1-k), or smaller with ties. That is the law of L in `per_draw.py`, so its argument gives probability
gamma / (M G) for each draw and grid point; union over both. A set at tau lies within the set at t+.

With M = 1, rho = 0 and thresholds that do not depend on the inputs, G = 1.
"""

import numpy as np
from numpy.typing import ArrayLike

from certiset.core.bounds.domain import Ints, answer, count, finite, open_unit, together
from certiset.core.bounds.vovk2b import largest_rank_2b


def size_quantile_rank(
    n: ArrayLike,
    share: ArrayLike,
    gamma: ArrayLike,
    log_ratio: ArrayLike = 0.0,
    draws: ArrayLike = 1,
    grid_size: ArrayLike = 1,
) -> int | Ints:
    """The rank k from above of the size that at most ``share`` of future sets exceed; 0 where no rank is enough."""
    n_, share_, gamma_, rho, draws_, points = together(
        n=count("n", n, at_least=2),
        share=open_unit("share", share),
        gamma=open_unit("gamma", gamma),
        log_ratio=finite("log_ratio", log_ratio),
        draws=count("draws", draws),
        grid_size=count("grid_size", grid_size),
    )
    return answer(largest_rank_2b(n_, share_, np.log(gamma_) - np.log(draws_) - np.log(points) - rho))
