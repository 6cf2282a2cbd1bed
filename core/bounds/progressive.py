r"""A pool that learns as it goes: one member for each block of rows, and an exact promise for their weighted mean.

**Statement.** Cut the rows, in random order, into D_0 and blocks B_1..B_K of m_1..m_K rows. Fix weights w_k > 0 with
sum 1 and ranks r_k that depend on (m, w, alpha, delta) alone. Member k is tuned on D_0 and B_1..B_{k-1} by any rule,
and its threshold is the (m_k + 1 - r_k)-th smallest of its scores on B_k. For continuous scores the miscoverages L_k
are independent with L_k ~ Beta(r_k, m_k+1-r_k), so that the predictor that serves member k with probability w_k has a
miscoverage L = sum_k w_k L_k whose law is known; with ties L is stochastically smaller. If

    P(sum_k w_k L_k > alpha) <= delta   for independent L_k ~ Beta(r_k, m_k+1-r_k),

then with probability at least 1 - delta over the rows, L <= alpha.

*Proof.* Given D_0 and B_1..B_{k-1}, member k's score is a fixed function and B_k is m_k fresh independent draws: by
`certiset.core.bounds.beta`, L_k ~ Beta(r_k, m_k+1-r_k), whatever was revealed before. As this law does not depend on
what it is conditioned on, L_k is independent of D_0 and B_1..B_{k-1}, of which L_1..L_{k-1} are functions; by
induction all of them are independent. With ties, compare (score, independent uniform number) instead: sets in that
finer order lie within the real ones, so that on every path each L_k is at most one that has exactly that law.

Nothing is paid for learning from the earlier blocks: no divergence, no union. For K = 1 this is Vovk 2b, and the level
that a pool can be given is nearly that of Vovk 2b on all rows together. What it asks for is that blocks, weights and
ranks, and later the order in which members are dropped, do not depend on what any block holds.

**Ranks.** Sizes are convex in the level, so members get levels that are as equal as whole ranks allow: first the
largest ranks in proportion to m_k + 1 that keep the promise, then one more for each member wherever the promise
survives it: those first whose rank adds most to the mean level, w_k / m_k, and of equal ones the lowest level first.
"""

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from certiset.core.bounds.beta import log_tail
from certiset.core.bounds.beta_sum import WeightedBeta, tail_of_sum
from certiset.core.bounds.domain import LARGEST_COUNT, Floats, Ints, calibration, count, finite, open_unit
from certiset.core.bounds.enough_points import enough_points
from certiset.core.bounds.errors import DomainError, TooFewPointsError
from certiset.core.bounds.vovk2b import largest_rank_2b, vovk_2b

ACCURACY = 3e-4
"""by which the computed tail may exceed the exact one, relatively"""
_MOST_BLOCKS = 16
_ROUNDING = 1e-9


def progressive_tail(
    sizes: ArrayLike, ranks: ArrayLike, alpha: float, weights: ArrayLike | None = None, *, accuracy: float = ACCURACY
) -> float:
    """An upper bound on P(sum_k w_k L_k > alpha), relatively ``accuracy`` above it at most; exact for one block.

    ``weights`` are in proportion to the sizes if not given.
    """
    m, w = _blocks(sizes, weights)
    r = np.atleast_1d(count("ranks", ranks))
    if r.shape != m.shape:
        raise DomainError(f"{r.size} ranks were given for {m.size} blocks: one per block is needed.", field="ranks")
    calibration(m, r)
    return _tail(m, r, w, _level("alpha", alpha), _level("accuracy", accuracy))


def progressive_ranks(
    sizes: ArrayLike, alpha: float, delta: float, weights: ArrayLike | None = None
) -> tuple[int, ...]:
    """The rank of every block: the largest, at nearly equal levels, for which P(sum_k w_k L_k > alpha) <= delta."""
    m, w = _blocks(sizes, weights)
    level, risk = _level("alpha", alpha), _level("delta", delta)
    if m.size == 1:
        return (int(vovk_2b(int(m[0]), level, risk)),)

    def holds(ranks: Ints) -> bool:
        return _tail(m, ranks, w, level, ACCURACY) <= risk

    low = _largest(lambda rank: holds(_proportional(m, rank)), *_guess(m, level, risk))
    if low == 0:
        needed = _needed(m, w, level, risk)
        rows = ", ".join(str(size) for size in m)
        raise TooFewPointsError(
            f"Blocks of {rows} rows are too few for alpha = {level:g}, delta = {risk:g}: at least {needed} rows in "
            "all, in these proportions, are needed.",
            needed,
            field="sizes",
        )
    ranks = _proportional(m, low)
    gain = np.round(w / m / (w / m).max(), 9)  # equal where weights are in proportion to sizes
    for member in np.lexsort(((ranks + 1) / (m + 1), -gain)):
        more = ranks.copy()
        more[member] += 1
        if more[member] <= m[member] and holds(more):
            ranks = more
    return tuple(ranks.tolist())


def _guess(sizes: Ints, alpha: float, delta: float) -> tuple[int, int]:
    """The rank of the largest block at the level of Vovk 2b on all rows together, and the largest that it may have."""
    rows, largest = int(sizes.sum()), int(sizes.max())
    alone = int(largest_rank_2b(np.asarray(rows), np.asarray(alpha), np.log(delta)))
    return max(1, alone * (largest + 1) // (rows + 1)), largest


def _largest(holds: Callable[[int], bool], guess: int, most: int) -> int:
    """The largest number in 1..most that holds, where all below hold too; else 0. Searched for from the guess on."""
    low, high, step = 0, most + 1, 1
    if holds(guess):
        low = guess
        while low < most and holds(min(low + step, most)):
            low, step = min(low + step, most), 2 * step
        high = min(low + step, high)
    else:
        high = guess
        while high > 1 and not holds(max(high - step, 1)):
            high, step = max(high - step, 1), 2 * step
        low = max(high - step, 0)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _proportional(sizes: Ints, rank: int) -> Ints:
    """The ranks whose levels are at most that of ``rank`` in the largest block, and at least 1: whole numbers alone."""
    largest = int(sizes.max()) + 1
    return np.array([max(1, rank * (int(size) + 1) // largest) for size in sizes], dtype=np.int64)


def _tail(sizes: Ints, ranks: Ints, weights: Floats, alpha: float, accuracy: float) -> float:
    if sizes.size == 1:
        return float(np.exp(log_tail(sizes, ranks, np.full(1, alpha)))[0])
    members = tuple(WeightedBeta(int(m), int(r), float(w)) for m, r, w in zip(sizes, ranks, weights, strict=True))
    return _kept_tail(members, alpha, accuracy)


@lru_cache(maxsize=256)
def _kept_tail(members: tuple[WeightedBeta, ...], alpha: float, accuracy: float) -> float:
    """A plan, its certificate and whoever verifies it ask for the same few tails, which take milliseconds each."""
    return tail_of_sum(list(members), alpha, accuracy)


def _needed(sizes: Ints, weights: Floats, alpha: float, delta: float) -> int:
    """The smallest number of rows that, cut in these proportions, keep the promise at rank 1."""
    shares = sizes / sizes.sum()

    def holds(rows: int) -> bool:
        cut = np.maximum(2, np.floor(shares * rows * (1 + 1e-12)).astype(np.int64))
        return _tail(cut, np.ones_like(cut), weights, alpha, ACCURACY) <= delta

    return enough_points(holds, alpha, too_few=int(sizes.sum()), most=LARGEST_COUNT / 4)


def _blocks(sizes: ArrayLike, weights: ArrayLike | None) -> tuple[Ints, Floats]:
    m = np.atleast_1d(count("sizes", sizes, at_least=2))
    if m.ndim != 1 or not 1 <= m.size <= _MOST_BLOCKS:
        raise DomainError(f"sizes must be a list of 1 to {_MOST_BLOCKS} blocks.", field="sizes")
    if weights is None:
        return m, m / m.sum()
    w = np.atleast_1d(finite("weights", weights))
    if w.shape != m.shape:
        raise DomainError(f"{w.size} weights were given for {m.size} blocks: one per block is needed.", field="weights")
    total = math.fsum(w)
    if np.any(w <= 0) or abs(total - 1) > _ROUNDING:
        raise DomainError(
            f"weights must be positive and add up to 1, and these add up to {total:.6g}.", field="weights"
        )
    return m, w / total


def _level(name: str, value: float) -> float:
    number = open_unit(name, value)
    if number.ndim != 0:
        raise DomainError(f"{name} must be one number.", field=name)
    return float(number)
