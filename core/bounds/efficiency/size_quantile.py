r"""A quantile of the size, without a cap: at most a share beta of future sets is larger than s.

**Statement.** Let theta be fixed before D_N is seen, and G sizes as well. Let tau be chosen in any way, by D_N if one
likes, k the largest rank with log T_k(beta) <= log(gamma / G), T_k(beta) = P(Beta(k, n+1-k) > beta), and s the smallest
of the G sizes that is at least the (n+1-k)-th smallest size on D_N at tau. With probability at least 1 - gamma over
D_N, P(size > s) <= beta at tau.

*Proof.* Fix one of the sizes, s. Sizes do not decrease in tau, so "larger than s" begins at a threshold t(x) of the
input's own. (If it holds at t(x) already, count t(x) as a hair smaller.) Let T be the k-th smallest of the t(x_i). As
in `beta.py`, P(t(x) < T) is Beta(k, n+1-k), or smaller with ties, and exceeds beta with probability at most gamma / G;
tau does not occur in it. If fewer than k of the sizes on D_N are larger than s at tau, tau has not reached T, so that
P(size > s) <= P(t(x) < T). Union over the sizes.

**With a grid of thresholds** instead: G thresholds fixed beforehand, t+ the smallest of them that is at least tau, and
s the (n+1-k)-th smallest size on D_N at t+, which needs no fixed sizes. *Proof.* At one fixed threshold, sizes are
independent draws of a real number, and P(size > s), with a strict >, is Beta(k, n+1-k), or smaller with ties. Union
over the thresholds; a set at tau lies within the set at t+. If tau does not depend on the inputs, G = 1.

**For draws from a posterior**, theta_1..theta_M from Q, the chance of failure at one rank is paid for as that of
`per_draw.py` is: fix a set of R ranks beforehand, and give draw m the largest of them with

    log T_k(beta) + rho(theta_m) <= log(gamma / (M G R)),      rho = log q(theta) - log p(theta).

The R must be paid for: a posterior that looks at D_N could otherwise choose its rank by its density.
"""

import numpy as np
from numpy.typing import ArrayLike

from certiset.core.bounds.domain import Ints, answer, count, finite, open_unit, together
from certiset.core.bounds.errors import DomainError
from certiset.core.bounds.per_draw import per_draw_rank
from certiset.core.bounds.vovk2b import largest_rank_2b

_OPEN_RANKS = 8


def size_quantile_rank(
    n: ArrayLike,
    share: ArrayLike,
    gamma: ArrayLike,
    log_ratio: ArrayLike | None = None,
    draws: ArrayLike = 1,
    grid_size: ArrayLike = 1,
) -> int | Ints:
    """The rank k from above of the size that at most ``share`` of future sets exceed; 0 where no rank is enough.

    ``grid_size`` is G. Without ``log_ratio`` for parameters that do not depend on D_N; with it for draws from a
    posterior, by at most eight different ranks, and for one calibration at a time.
    """
    n_, share_, gamma_, draws_, points = together(
        n=count("n", n, at_least=2),
        share=open_unit("share", share),
        gamma=open_unit("gamma", gamma),
        draws=count("draws", draws),
        grid_size=count("grid_size", grid_size),
    )
    log_gamma = np.log(gamma_) - np.log(draws_) - np.log(points)
    if log_ratio is None:
        return answer(largest_rank_2b(n_, share_, log_gamma))
    if n_.ndim:
        raise DomainError("n, share, gamma, draws and grid_size must be numbers: ranks are chosen for one calibration.")
    largest = int(largest_rank_2b(n_, share_, log_gamma - np.log(_OPEN_RANKS)))
    ranks = sorted({largest * part // _OPEN_RANKS for part in range(1, _OPEN_RANKS + 1)} - {0})
    if not ranks:
        nothing: Ints = np.zeros(finite("log_ratio", log_ratio).shape, dtype=np.int64)
        return answer(nothing)
    return per_draw_rank(int(n_), float(share_), float(gamma_ / points), log_ratio, ranks, draws=int(draws_))
