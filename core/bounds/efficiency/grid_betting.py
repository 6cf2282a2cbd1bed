r"""Betting on calibration rows whose threshold was chosen by them: the threshold is rounded up to a grid.

**Statement.** Let theta_1..theta_M be drawn from Q, rho = log q(theta) - log p(theta), and let a grid of G thresholds
be fixed from (theta, D_0) alone. For draw m let t+ be the smallest grid point that is at least tau, +infinity, where e
= 1, beyond the last, and W_m the capital of `betting.py` for the sizes e(x_i, t+, theta_m) on D_N. With probability at
least 1 - gamma over D_N and the draws, for every m at once,

    E(theta_m) <= sup {mu : log W_m(mu) < log(M G / gamma) + rho(theta_m)}.

*Proof.* Fix m and a grid point g, let mu be the true mean there and W its capital, and c = gamma / (M G). For each
fixed theta E_D W(mu) <= 1, so P(W(mu) >= e^rho / c) = E_D E_P[e^rho 1{e^rho <= c W(mu)}] <= c E_P E_D W(mu) <= c.
Union over grid points and draws. Last, e does not decrease in tau: E(theta, tau) <= E(theta, t+).

There is no 2 sqrt(n) of `grid_kl.py` to pay. With M = 1, rho = 0 and a threshold that does not depend on the inputs, G
= 1.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from certiset.core.bounds.domain import count, finite
from certiset.core.bounds.efficiency.betting import betting_bound, occurrences, single_level
from certiset.core.bounds.errors import DomainError


def grid_betting(
    values: ArrayLike,
    gamma: float,
    grid_size: int,
    *,
    counts: ArrayLike | None = None,
    draws: int = 1,
    log_ratio: float = 0.0,
) -> float:
    """The level that the mean efficiency of one draw stays below, for all draws at once with probability 1 - gamma.

    ``values``, in [0, 1], are those at the grid point taken; with ``counts``, how often each of them occurred.
    """
    points, parts, rho = count("grid_size", grid_size), count("draws", draws), finite("log_ratio", log_ratio)
    if any(np.ndim(number) != 0 for number in (points, parts, rho)):
        raise DomainError("grid_size, draws and log_ratio must be numbers: one draw is bounded at a time.")
    nats = math.log(int(points)) + math.log(int(parts)) - math.log(single_level("gamma", gamma)) + float(rho)
    return betting_bound(*occurrences(values, counts), nats)
