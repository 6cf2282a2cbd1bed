r"""Every group at once, for a pool that learns as it goes: a threshold for each group in each block.

**Statement.** Blocks B_1..B_K, weights w_k and members as in `progressive.py`, groups as in `groups.py`; m_gk rows of
block k are in group g. Let the shares delta_g >= 0 with sum delta and the ranks r_gk be **any function of the counts**
such that, for independent L_gk ~ Beta(r_gk, m_gk+1-r_gk),

    P(sum_k w_k L_gk > alpha) <= delta_g   for every group g with a finite threshold.

With tau_gk the (m_gk + 1 - r_gk)-th smallest score that member k gives to the rows of group g in its own block, and
member k serving with probability w_k, whatever the group, with probability at least 1 - delta **every** group is missed
at most alpha of the time, on average over the pool.

*Proof.* Given the groups of all rows, and all that B_1..B_{k-1} and D_0 hold, member k is fixed and the rows of group g
in B_k are m_gk independent draws from that group's law, so that its miscoverage there has the law of L_gk, whatever it
is conditioned on. By the induction of `progressive.py` L_g1..L_gK are independent for each g, and group g fails with
probability at most delta_g; by the union bound any of them does with probability at most delta, for each value of the
groups and so on average. The L_gk of different groups in one pool need not be independent for that.

**Shares.** As for one block, from the rows that a group has in all blocks together; equal ones if these leave a group
without a rank that equal ones give it. A group that both leave without has no threshold, and its share goes to others.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certiset.core.bounds.domain import Ints, count, one_number, open_unit
from certiset.core.bounds.errors import DomainError, TooFewPointsError
from certiset.core.bounds.groups import GroupShares, ShareRule, group_shares
from certiset.core.bounds.progressive import progressive_ranks

_FEWEST = 2
"""rows of a block, and blocks of a pool"""


@dataclass(frozen=True)
class PoolGroupShares:
    """What each group gets, in the order of the counts; it depends on the counts and the weights alone."""

    counts: tuple[tuple[int, ...], ...]
    """rows of each group in every block"""
    shares: tuple[float, ...]
    """of delta; 0 for a group without finite thresholds"""
    ranks: tuple[tuple[int, ...], ...]
    """of each group in every block; all 0: its thresholds are +infinity"""
    rows_needed: int
    """in all blocks together, as many in each, that are enough for any group, whatever the others have"""

    @property
    def totals(self) -> tuple[int, ...]:
        return tuple(map(sum, self.counts))

    @property
    def lacking(self) -> tuple[int, ...]:
        """How many more rows a group needs for finite thresholds, at least; 0 where it has them."""
        each = zip(self.ranks, self.totals, strict=True)
        return tuple(0 if any(ranks) else max(1, self.rows_needed - rows) for ranks, rows in each)


def pool_group_shares(
    counts: ArrayLike, alpha: float, delta: float, weights: ArrayLike, rule: ShareRule = "even"
) -> PoolGroupShares:
    """Shares of delta and ranks, so that every group keeps alpha on average over the pool, all of them at once.

    ``counts`` are the rows of each group in every block, ``weights`` the chance of each block's member to serve.
    """
    rows = count("counts", counts, at_least=0)
    if rows.ndim != 2 or rows.shape[0] == 0 or rows.shape[1] < _FEWEST:
        raise DomainError(
            "counts must have a list for each group, with its rows in two blocks or more.", field="counts"
        )
    level = one_number("alpha", open_unit("alpha", alpha))
    risk = one_number("delta", open_unit("delta", delta))
    totals, can = rows.sum(axis=1), rows.min(axis=1) >= _FEWEST
    while True:
        alone = np.where(can, totals, 0)
        found, ranks = _shared(rows, alone, level, risk, rule, weights)
        served = np.array(found.ranks) > 0
        without = served & ~_finite(ranks)
        if not without.any():
            break
        equal = _shared(rows, alone, level, risk, "equal", weights)
        lost = served & ~_finite(equal[1])
        if not lost.any():
            found, ranks = equal
            break
        can &= ~(without & lost if (without & lost).any() else lost)
    needed = _rows_needed(rows.shape[1], level, risk / len(rows), weights)
    each = tuple(tuple(own) for own in rows.tolist())
    return PoolGroupShares(each, found.shares, tuple(ranks), needed)


def in_one_block(found: PoolGroupShares) -> GroupShares:
    """The same in the words of one block: rows and ranks of all blocks together."""
    return GroupShares(found.totals, found.shares, tuple(map(sum, found.ranks)), found.rows_needed)


def _shared(
    rows: Ints, alone: Ints, alpha: float, delta: float, rule: ShareRule, weights: ArrayLike
) -> tuple[GroupShares, list[tuple[int, ...]]]:
    """Shares by the rows of each group in all blocks, and the ranks that they are enough for."""
    found = group_shares(alone, alpha, delta, rule)
    return found, [_ranks(own, alpha, share, weights) for own, share in zip(rows, found.shares, strict=True)]


def _finite(ranks: list[tuple[int, ...]]) -> NDArray[np.bool_]:
    return np.array([any(own) for own in ranks])


def _ranks(rows: Ints, alpha: float, share: float, weights: ArrayLike) -> tuple[int, ...]:
    if not share:
        return (0,) * len(rows)
    try:
        return progressive_ranks(rows, alpha, share, weights)
    except TooFewPointsError:
        return (0,) * len(rows)


def _rows_needed(blocks: int, alpha: float, share: float, weights: ArrayLike) -> int:
    try:
        progressive_ranks([_FEWEST] * blocks, alpha, share, weights)
    except TooFewPointsError as error:
        return blocks * math.ceil(error.needed / blocks)
    return _FEWEST * blocks
