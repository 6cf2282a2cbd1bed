"""The coverage of the randomised predictor by the name of its bound: budgets, promises and usable ranks."""

from collections.abc import Callable
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from certiset.core.bounds.beta import log_tail
from certiset.core.bounds.chernoff import chernoff_bound, chernoff_budget
from certiset.core.bounds.domain import Floats, Ints, answer, calibration, count, divergence, open_unit, together
from certiset.core.bounds.errors import DomainError
from certiset.core.bounds.seeger import seeger_bound, seeger_budget
from certiset.core.bounds.vovk2b import bisect_ranks

PosteriorBound: TypeAlias = Literal["seeger", "chernoff"]
RankBound: TypeAlias = Literal["seeger", "chernoff", "per_draw"]

_BUDGETS: dict[str, Callable[[Ints, Ints, Floats, Floats], Floats]] = {
    "seeger": seeger_budget,
    "chernoff": chernoff_budget,
    "per_draw": lambda n, k, alpha, delta: np.log(delta) - log_tail(n, k, alpha),
}


def kl_budget(
    n: ArrayLike, k: ArrayLike, alpha: ArrayLike, delta: ArrayLike, bound: PosteriorBound = "chernoff"
) -> float | Floats:
    """The largest KL(Q‖P) in nats for which L(Q) <= alpha is promised with probability 1 - delta at rank k.

    Negative where not even the prior itself can be promised alpha.
    """
    _known(bound, PosteriorBound)
    sizes, ranks = calibration(n, k)
    n_, k_, alpha_, delta_ = together(
        n=sizes, k=ranks, alpha=open_unit("alpha", alpha), delta=open_unit("delta", delta)
    )
    return answer(_BUDGETS[bound](n_, k_, alpha_, delta_))


def miscoverage_bound(
    n: ArrayLike,
    k: ArrayLike,
    delta: ArrayLike,
    kl: ArrayLike,
    bound: PosteriorBound = "chernoff",
    alpha: ArrayLike | None = None,
) -> float | Floats:
    """The level that L(Q) stays below with probability 1 - delta, for a posterior with KL(Q‖P) = ``kl``.

    ``alpha`` is the level that was aimed at, fixed before the data: chernoff chooses its lambda for it, so that
    ``miscoverage_bound(kl=kl_budget(...)) == alpha``. Seeger needs none.
    """
    _known(bound, PosteriorBound)
    sizes, ranks = calibration(n, k)
    aim = None if alpha is None else open_unit("alpha", alpha)
    n_, k_, delta_, kl_, aim_ = together(
        n=sizes,
        k=ranks,
        delta=open_unit("delta", delta),
        kl=divergence("kl", kl),
        alpha=np.zeros(()) if aim is None else aim,
    )
    if bound == "seeger":
        return answer(seeger_bound(n_, k_, delta_, kl_))
    return answer(chernoff_bound(n_, k_, delta_, kl_, None if aim is None else aim_))


def largest_rank(
    n: ArrayLike, alpha: ArrayLike, delta: ArrayLike, kl: ArrayLike = 0.0, bound: RankBound = "chernoff"
) -> int | Ints:
    """The largest rank whose budget is at least ``kl``; 0 where there is none.

    For ``per_draw``, ``kl`` is the log-ratio of one draw with a single rank fixed beforehand; at 0 this is Vovk 2b.
    """
    _known(bound, RankBound)
    n_, alpha_, delta_, kl_ = together(
        n=count("n", n, at_least=2),
        alpha=open_unit("alpha", alpha),
        delta=open_unit("delta", delta),
        kl=divergence("kl", kl),
    )
    return answer(bisect_ranks(n_, lambda k: _BUDGETS[bound](n_, k, alpha_, delta_) >= kl_))


def _known(bound: object, names: object) -> None:
    if not isinstance(bound, str) or bound not in get_args(names):
        raise DomainError(f"bound must be one of {', '.join(get_args(names))}, not {bound!r}.")
