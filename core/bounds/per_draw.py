r"""A promise for every stored (theta, tau) pair.

**Statement.** Let rho(theta) = log q(theta) - log p(theta), where the prior p does not depend on D_N. Fix before seeing
D_N the number of draws M, a set K of ranks and weights w_k > 0 with sum at most 1. Draw theta_1..theta_M from Q and
give draw m the largest rank k in K with

    log T_k(alpha) + rho(theta_m) <= log(delta w_k / M),      T_k(alpha) = P(Beta(k, n+1-k) > alpha).

A draw for which no rank fits is not served. With probability at least 1 - delta over D_N and the draws, *every* served
pair has L <= alpha, all at once.

*Proof.* Fix m and k, and let c = delta w_k / M. The event that draw m gets rank k and L > alpha at that rank lies
within {L > alpha, e^rho <= c / T_k}. Its probability is E_D E_{theta~Q}[1{...}] = E_D E_{theta~P}[e^rho 1{...}]
<= (c / T_k) E_P P_D(L > alpha) <= c, since for each fixed theta P_D(L > alpha) <= T_k. Sum over m and k.

With rho = 0, one draw and one rank this is Vovk 2b. There is no Jensen step and no Monte Carlo term; the draws
need not even be independent. Since all served pairs hold at once, any of them may be served: at random, the first few,
or the best one, chosen by looking at D_N. So M may include spare draws, which stand in for those without a rank.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certiset.core.bounds.beta import log_tail
from certiset.core.bounds.domain import Floats, Ints, answer, calibration, count, finite, open_unit, together
from certiset.core.bounds.errors import DomainError


def per_draw_budget(
    n: ArrayLike,
    k: ArrayLike,
    alpha: ArrayLike,
    delta: ArrayLike,
    weight: ArrayLike = 1.0,
    draws: ArrayLike = 1,
) -> float | Floats:
    """The largest log-ratio rho with which a draw may be given rank k: log(delta w_k / M) - log T_k(alpha)."""
    sizes, ranks = calibration(n, k)
    n_, k_, alpha_, delta_, weight_, draws_ = together(
        n=sizes,
        k=ranks,
        alpha=open_unit("alpha", alpha),
        delta=open_unit("delta", delta),
        weight=_weights(weight),
        draws=count("draws", draws),
    )
    return answer(np.log(delta_) + np.log(weight_) - np.log(draws_) - log_tail(n_, k_, alpha_))


def per_draw_rank(
    n: int,
    alpha: float,
    delta: float,
    log_ratio: ArrayLike,
    ranks: Sequence[int] | NDArray[np.integer],
    weights: Sequence[float] | NDArray[np.floating] | None = None,
    draws: int = 1,
) -> int | Ints:
    """The rank that each draw is served with, given its log-ratio; 0 for a draw that must not be served.

    ``ranks``, ``weights`` (uniform if not given) and ``draws``, the number of all draws, must have been fixed before
    the data were seen.
    """
    for name, value in (("n", n), ("alpha", alpha), ("delta", delta), ("draws", draws)):
        if np.ndim(value) != 0:
            raise DomainError(f"{name} must be one number: the ranks are chosen for one calibration at a time.")
    rho = finite("log_ratio", log_ratio)
    ordered, weight = _weighted_ranks(ranks, weights)
    if np.any(ordered > count("n", n, at_least=2)):
        raise DomainError(f"ranks must be at most n, and {ordered[-1]} is beyond n = {n}.")
    if rho.size > count("draws", draws):
        raise DomainError(f"{rho.size} log-ratios were given for draws = {draws}: every draw must be paid for.")
    allowance = np.atleast_1d(per_draw_budget(n, ordered, alpha, delta, weight, draws))
    # The largest rank whose allowance reaches rho: the running maximum from the top does not increase with the rank.
    reachable = np.maximum.accumulate(allowance[::-1])  # ascending, from the largest rank down
    place = np.searchsorted(reachable, rho, side="left")
    from_top: Ints = np.append(ordered[::-1], 0)
    return answer(from_top[place])


def _weighted_ranks(
    ranks: Sequence[int] | NDArray[np.integer], weights: Sequence[float] | NDArray[np.floating] | None
) -> tuple[Ints, Floats]:
    ranks_ = np.atleast_1d(count("ranks", ranks))
    if ranks_.ndim != 1 or ranks_.size == 0:
        raise DomainError("ranks must be a non-empty list of ranks.")
    if np.unique(ranks_).size != ranks_.size:
        raise DomainError("ranks must not repeat: add the weights of equal ranks instead.")
    if weights is None:
        weights_ = np.full(ranks_.size, 1 / ranks_.size)
    else:
        weights_ = np.atleast_1d(_weights(weights))
        if weights_.shape != ranks_.shape:
            raise DomainError(f"{weights_.size} weights were given for {ranks_.size} ranks: one per rank is needed.")
        if weights_.sum() > 1 + 1e-12:
            raise DomainError(f"weights must add up to at most 1, and these add up to {weights_.sum():.6g}.")
    order = np.argsort(ranks_)
    return ranks_[order], weights_[order]


def _weights(weights: ArrayLike) -> Floats:
    values = finite("weights", weights)
    if np.any(values <= 0) or np.any(values > 1):
        raise DomainError("weights must be positive and at most 1.")
    return values
