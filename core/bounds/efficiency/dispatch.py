"""The efficiency bounds by name, for the randomised predictor and for every stored draw."""

from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from certiset.core.bounds.domain import (
    Floats,
    answer,
    closed_unit,
    count,
    divergence,
    finite,
    open_unit,
    together,
)
from certiset.core.bounds.efficiency.grid_kl import grid_kl
from certiset.core.bounds.efficiency.monotone import monotone
from certiset.core.bounds.efficiency.monte_carlo import monte_carlo_mean
from certiset.core.bounds.efficiency.theorem2 import theorem2
from certiset.core.bounds.errors import DomainError, TooFewPointsError

EfficiencyBound: TypeAlias = Literal["theorem2", "monotone", "grid_kl"]

_SMALLEST_N_OF_MAURER = 8


def efficiency_bound(
    empirical: ArrayLike,
    n: ArrayLike,
    gamma: ArrayLike,
    kl: ArrayLike,
    bound: EfficiencyBound = "grid_kl",
    *,
    grid_size: ArrayLike | None = None,
    score_bound: ArrayLike | None = None,
    lipschitz: ArrayLike | None = None,
    draws: ArrayLike | None = None,
    gamma_monte_carlo: ArrayLike | None = None,
) -> float | Floats:
    """The level that E(Q) stays below with probability 1 - gamma, for a posterior with KL(Q‖P) = ``kl``.

    ``empirical`` is the expectation over Q of the mean efficiency on D_N; for ``grid_kl``, with thresholds rounded up
    to the grid of ``grid_size`` points. ``theorem2`` needs ``score_bound`` and ``lipschitz``. If ``empirical`` is the
    mean over ``draws`` draws from Q instead, ``gamma_monte_carlo`` is spent on that, on top of gamma.
    """
    if (draws is None) != (gamma_monte_carlo is None):
        raise DomainError("draws and gamma_monte_carlo go together: give both or neither.")
    mean = closed_unit("empirical", empirical)
    if draws is not None and gamma_monte_carlo is not None:
        mean = np.asarray(monte_carlo_mean(mean, draws, open_unit("gamma_monte_carlo", gamma_monte_carlo)))
    spent = divergence("kl", kl)
    return _bound(mean, n, gamma, spent, bound, grid_size, score_bound, lipschitz)


def per_draw_efficiency_bound(
    empirical: ArrayLike,
    n: ArrayLike,
    gamma: ArrayLike,
    log_ratio: ArrayLike,
    draws: ArrayLike = 1,
    bound: EfficiencyBound = "grid_kl",
    *,
    grid_size: ArrayLike | None = None,
    score_bound: ArrayLike | None = None,
    lipschitz: ArrayLike | None = None,
) -> float | Floats:
    """The levels that E(theta_m) stay below, for all M draws at once, with probability 1 - gamma.

    *Proof.* In each bound the statement for one fixed theta is E_D exp(Phi(theta)) <= C. For a draw from Q,
    P(Phi > rho + log(C/c)) = E_D E_P[e^rho 1{e^rho < e^Phi c / C}] <= (c/C) E_P E_D e^Phi <= c with c = gamma/M;
    union over the draws. So KL is replaced by rho = log q(theta) - log p(theta), which may be negative, and gamma by
    gamma/M. There is no expectation over Q, hence nothing to correct for Monte Carlo.
    """
    mean = closed_unit("empirical", empirical)
    whole, parts = together(gamma=open_unit("gamma", gamma), draws=count("draws", draws))
    shares = whole / parts
    return _bound(mean, n, shares, finite("log_ratio", log_ratio), bound, grid_size, score_bound, lipschitz)


def _bound(
    empirical: Floats,
    n: ArrayLike,
    gamma: ArrayLike,
    spent: Floats,
    bound: str,
    grid_size: ArrayLike | None,
    score_bound: ArrayLike | None,
    lipschitz: ArrayLike | None,
) -> float | Floats:
    sizes = count("n", n, at_least=2)
    kl, risk = together(kl=spent, gamma=open_unit("gamma", gamma))
    log_terms = kl - np.log(risk)
    match bound:
        case "theorem2":
            if score_bound is None or lipschitz is None:
                raise DomainError("theorem2 needs score_bound and lipschitz.")
            largest, slope = divergence("score_bound", score_bound), divergence("lipschitz", lipschitz)
            e, n_, terms, beta, lip = together(
                empirical=empirical, n=sizes, kl=log_terms, score_bound=largest, lipschitz=slope
            )
            return answer(theorem2(e, n_, terms, beta, lip))
        case "monotone":
            e, n_, terms = together(empirical=empirical, n=sizes, kl=log_terms)
            return answer(monotone(e, n_, terms))
        case "grid_kl":
            if grid_size is None:
                raise DomainError("grid_kl needs grid_size, the number of grid points.")
            if np.any(sizes < _SMALLEST_N_OF_MAURER):
                raise TooFewPointsError(
                    f"n = {int(sizes.min())} is too few for grid_kl: at least 8 calibration points are needed.",
                    _SMALLEST_N_OF_MAURER,
                )
            e, n_, terms, points = together(
                empirical=empirical, n=sizes, kl=log_terms, grid_size=count("grid_size", grid_size)
            )
            return answer(grid_kl(e, n_, terms, points))
        case _:
            raise DomainError(f"bound must be one of {', '.join(get_args(EfficiencyBound))}, not {bound!r}.")
