r"""The size of a pool's sets, certified on its last block: the numbers that a fit states and that a check recomputes.

A pool is tuned block by block (`certiset.core.bounds.progressive`), and serves member k with probability w_k. Let m be
the rows of the last block B_K, and t_1 < ... < t_G a grid of thresholds of the last member that is fixed from what was
revealed before B_K. Let t+ be the smallest grid point that is at least tau_K, and +infinity beyond the last one.

**The mean.** With e in [0, 1] non-decreasing in the threshold, and e_i(t) = sum_{k<K} w_k e(x_i, tau_k, theta_k) +
w_K e(x_i, t, theta_K): let W be the capital of `certiset.core.bounds.efficiency.betting` for e_1(t+)..e_m(t+). With
probability at least 1 - gamma over B_K, the mean efficiency of what is served is at most sup {mu : W(mu) < G / gamma}.

*Proof.* All parameters, tau_1..tau_{K-1} and the grid are functions of what was revealed before B_K; given that, the
rows of B_K are independent draws. At one fixed grid point t_g, e_1(t_g)..e_m(t_g) are then independent with mean mu_g,
the mean efficiency of the pool whose last threshold is t_g, and betting fails with probability at most gamma / G. Union
over the grid; at +infinity e = 1 bounds anything. Last, e does not decrease: the served pool's mean is at most that at
t+. Nothing is paid for the other members, whose thresholds do not depend on these rows.

**A quantile.** Draw for each row of B_K a member M_i by the weights, independently of all rows, and let S_i(t) be the
size of row i under member M_i, the last one at threshold t. With s the r-th largest of S_1(t+)..S_m(t+) and P(Beta(r,
m+1-r) > beta) <= gamma / G, at most a share beta of served sets is larger than s, with probability at least 1 - gamma.

*Proof.* What is served for a new input is the size under a member that is drawn for it: one more draw of the same pair
(input, member). Given what was revealed before, (x_i, M_i) are independent draws of that pair, so S_1(t_g)..S_m(t_g)
are independent draws of the served size at t_g, and `certiset.core.bounds.efficiency.size_quantile` applies with one
parameter and G grid points. A set at tau_K lies within the one at t+.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from certiset.core.bounds import DomainError, SizeCounts, size_quantile_rank
from certiset.core.bounds.domain import Floats, Ints
from certiset.core.certificate.sizes import QUANTILE_SHARE


@dataclass(frozen=True)
class PoolSizes:
    """What may be said about the size of a pool's sets, each part except with probability gamma."""

    counts: SizeCounts | None
    """of the mean size over the members, row by row; None without a cap"""
    upper_bound: float | None
    """on the mean size of what is served, in units of size; None without a cap"""
    means: list[float] | None
    """of each member: the mean of min(size / cap, 1), the last one's at its grid point"""
    quantile_rank: int
    """0 where there are too few rows, or the grid does not reach"""
    quantile: float | None


def pool_sizes(
    sizes: ArrayLike,
    weights: Sequence[float],
    *,
    cap: float | None,
    labels: bool,
    gamma: float,
    grid_size: int,
    seed: int,
) -> PoolSizes:
    """For sizes (rows of the last block, members), in units of size, the last member's at the grid point t+.

    Beyond the grid the last column is infinite. ``cap`` is the number of classes where ``labels`` are counted;
    ``gamma`` is spent on the mean, and again on the quantile. ``seed`` draws a member for each row, and must not
    depend on the rows.
    """
    found = np.asarray(sizes, dtype=np.float64)
    w = np.asarray(weights, dtype=np.float64)
    if found.ndim != 2 or found.shape[1] != w.size or np.isnan(found).any():
        raise DomainError("sizes must have a row for each row of the last block, and a column for each member.")
    counts = means = upper_bound = None
    if cap is not None:
        cut = np.minimum(found, cap)
        # Rounding must not lift a mean of sizes of at most the cap above it.
        mean = np.minimum(cut @ w, cap)
        counts = SizeCounts.of_mean_labels(mean, int(cap)) if labels else SizeCounts.of_capped(mean, cap)
        means = (cut.mean(axis=0) / cap).tolist()
        upper_bound = pool_upper_bound(counts, gamma, cap, grid_size)
    rank = pool_quantile_rank(len(found), gamma, grid_size)
    quantile = math.inf
    if rank:
        served = found[np.arange(len(found)), drawn_members(len(found), w, seed)]
        quantile = float(np.partition(served, len(served) - rank)[len(served) - rank])
    if not math.isfinite(quantile):
        return PoolSizes(counts, upper_bound, means, 0, None)
    return PoolSizes(counts, upper_bound, means, rank, quantile)


def pool_upper_bound(counts: SizeCounts, gamma: float, cap: float, grid_size: int) -> float:
    """On the mean size of what is served, in units of size, rounded up."""
    return math.nextafter(cap * counts.grid_upper_bound(gamma, grid_size), math.inf)


def pool_quantile_rank(rows: int, gamma: float, grid_size: int, share: float = QUANTILE_SHARE) -> int:
    """Which size on the last block, counted from the largest, at most that share of sets exceeds; 0 for too few."""
    return int(size_quantile_rank(rows, share, gamma, grid_size=grid_size)) if rows >= 2 else 0


def drawn_members(rows: int, weights: Floats, seed: int) -> Ints:
    """(rows,): a member for each row, by the weights; NumPy promises that this generator never changes."""
    even = np.random.RandomState(seed % 2**32).random_sample(rows)
    return np.searchsorted(np.cumsum(weights)[:-1], even, side="right").astype(np.int64)
