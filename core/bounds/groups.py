r"""Every group at once: a threshold for each group, and its share of delta from the counts alone.

**Statement.** Let g be a function of the row (a column, or the class), with groups 1..G listed without D_N, and n_g
the number of calibration rows in group g. Let shares delta_g >= 0 with sum delta and ranks k_g be **any function of
the counts** n_1..n_G such that T_{k_g}(alpha) = P(Beta(k_g, n_g+1-k_g) > alpha) <= delta_g, where rank 0 is a
threshold of +infinity and needs no share. With tau_g the (n_g+1-k_g)-th smallest score of group g, with probability at
least 1 - delta **every** group is missed at most alpha of the time: P(s > tau_g | group g) <= alpha for all g.

*Proof.* Given the groups of all rows, the scores within group g are n_g independent draws from that group's law, and
counts, shares and ranks are constants. By `vovk2b.py` group g fails with probability at most T_{k_g}(alpha) <=
delta_g, or 0 for rank 0; by the union bound any of them does with probability at most delta. This holds for each value
of the groups, and so on average.

The promise for all rows together follows, and with classes as groups, that for any mixture of classes. The list, and
what is merged, must come from elsewhere: merged by the counts of D_N, rows are no draws from the merged group's law
any more.

**Shares.** ``equal``: as many groups as possible, the largest first, get the same. ``even``: each of these has at least
the rank that equal shares give it; whole ranks never use their shares up, and what they leave first gives further
groups a finite threshold and then buys ranks as ``size`` does. So no group is worse off for its neighbours, however
large they are: beside one of 1,000,000 rows, three of 300 have rank 19 (``size``: 15). ``size``: for the smallest sets
on average over all rows.
Sets grow about as log(1 / level) where scores have exponential tails, so the proxy is sum_g n_g log(alpha / level_g),
with level_g = k_g / (n_g+1): convex in the level, infinite without a finite threshold. So first as many groups as
possible get rank 1, the largest first. Then rank after rank is bought where it lowers the proxy most for its price:
from k to k + 1 it costs T_{k+1} - T_k = P(Binomial(n_g, alpha) = k), which grows in k up to the mode, while the gain
n_g log(1 + 1/k) falls; so this is the best that whole ranks allow, but for the last one. What is left of delta is
shared in proportion: the ranks are those of Vovk 2b at the shares. No rule leaves out a group of `rows_needed` rows:
T_1 <= delta / G for each of those.
"""

import heapq
import math
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certiset.core.bounds.beta import log_density, log_tail
from certiset.core.bounds.domain import Floats, Ints, count, one_number, open_unit
from certiset.core.bounds.errors import DomainError
from certiset.core.bounds.vovk2b import bisect_ranks, largest_rank_2b, smallest_n_2b

ShareRule: TypeAlias = Literal["even", "size", "equal"]
_ROUNDING = 1e-12
"""of delta that is not spent: shares stay above the tails that they pay for"""
_NEARLY = 0.02
"""in the logarithm of a price: what lies between is bought rank by rank"""
_FEW_RANKS = 1000
"""that may be bought one by one"""
_FREE = -800.0
"""the logarithm of a price that is no longer a float"""


@dataclass(frozen=True)
class GroupShares:
    """What each group gets, in the order of the counts; it depends on the counts alone."""

    counts: tuple[int, ...]
    shares: tuple[float, ...]
    """of delta, which they add up to; 0 for a group without a finite threshold"""
    ranks: tuple[int, ...]
    """0: the threshold is +infinity"""
    rows_needed: int
    """that are enough for any group to have a finite threshold, whatever the others have"""

    @property
    def lacking(self) -> tuple[int, ...]:
        """How many more rows a group needs for a finite threshold; 0 where it has one."""
        return tuple(0 if rank else self.rows_needed - rows for rank, rows in zip(self.ranks, self.counts, strict=True))


def group_shares(counts: ArrayLike, alpha: float, delta: float, rule: ShareRule = "even") -> GroupShares:
    """Shares of delta and ranks, so that every group keeps alpha with probability 1 - delta, all at once."""
    n = count("counts", counts, at_least=0)
    if n.ndim != 1 or n.size == 0:
        raise DomainError("counts must be a list of one number for each group.", field="counts")
    level = one_number("alpha", open_unit("alpha", alpha))
    risk = one_number("delta", open_unit("delta", delta))
    if rule not in get_args(ShareRule):
        raise DomainError(f"rule must be one of {', '.join(get_args(ShareRule))}, not {rule!r}.", field="rule")
    shares: Floats = np.zeros(n.size)
    ranks = np.zeros_like(n)
    served = _served(n, level, risk, rule)
    if rule == "even" and np.any(served):
        ranks, shares = _even(n, served, level, risk)
    elif np.any(served):
        alike = rule == "equal" or np.count_nonzero(served) == 1
        shares[served], ranks[served] = (_equal if alike else _for_size)(n[served], level, risk)
    needed = smallest_n_2b(level, risk / n.size * (1 - 2 * _ROUNDING))
    return GroupShares(tuple(n.tolist()), tuple(shares.tolist()), tuple(ranks.tolist()), needed)


def _served(counts: Ints, alpha: float, delta: float, rule: ShareRule) -> NDArray[np.bool_]:
    """Which groups get a finite threshold: the largest, as many as delta is enough for at rank 1."""
    order = np.argsort(-counts, kind="stable")
    order = order[counts[order] >= 2]
    least = log_tail(counts[order], np.ones_like(order), np.full(order.size, alpha))
    spent = np.logaddexp.accumulate(least) if rule == "size" else np.log(np.arange(1, order.size + 1)) + least
    served = np.zeros(counts.size, dtype=np.bool_)
    served[order[: int(np.count_nonzero(spent <= math.log(delta)))]] = True
    return served


def _equal(counts: Ints, alpha: float, delta: float) -> tuple[Floats, Ints]:
    share = delta / counts.size
    ranks = largest_rank_2b(counts, np.full(counts.size, alpha), np.full(counts.size, math.log(share)))
    return np.full(counts.size, share), np.maximum(ranks, 1)


def _even(counts: Ints, served: NDArray[np.bool_], alpha: float, delta: float) -> tuple[Ints, Floats]:
    """Ranks and shares of all groups: those of equal shares at least, and what these leave, put to use."""
    ranks, shares = np.zeros_like(counts), np.zeros(counts.size)
    ranks[served] = _equal(counts[served], alpha, delta)[1]
    left = delta * (1 - _ROUNDING) - math.fsum(_tails(counts[served], ranks[served], alpha))
    for group in np.argsort(-counts, kind="stable")[np.count_nonzero(served) :].tolist():
        least = float(_tails(counts[[group]], np.ones(1, dtype=np.int64), alpha)[0]) if counts[group] >= 2 else math.inf
        if least > left:
            break  # those that follow are smaller, and dearer
        ranks[group], left = 1, left - least
    finite = ranks > 0
    ranks[finite] = _one_by_one(counts[finite], ranks[finite], alpha, delta)
    tails = _tails(counts[finite], ranks[finite], alpha)
    shares[finite] = tails * (delta / math.fsum(tails)) if tails.size > 1 else delta
    return ranks, shares


def _for_size(counts: Ints, alpha: float, delta: float) -> tuple[Floats, Ints]:
    ranks = _one_by_one(counts, _at_one_price(counts, alpha, delta), alpha, delta)
    tails = _tails(counts, ranks, alpha)
    return tails * (delta / math.fsum(tails)), ranks


def _at_one_price(counts: Ints, alpha: float, delta: float) -> Ints:
    """Ranks that cost less than some price each, nearly the highest that delta is enough for; not beyond the mode."""
    mode = np.maximum(np.floor((counts + 1) * alpha).astype(np.int64), 1)

    def bought(log_price: float) -> Ints:
        return bisect_ranks(mode, lambda k: (k == 1) | (_log_price(counts, np.maximum(k - 1, 1), alpha) <= log_price))

    def affordable(ranks: Ints) -> bool:
        return math.fsum(_tails(counts, ranks, alpha)) <= delta * (1 - _ROUNDING)

    # At the highest of these prices all groups have more than at equal shares; at the lowest none has, but for rank 1.
    prices = _log_price(counts, _equal(counts, alpha, delta)[1], alpha)
    low, high, step = float(prices.min()) - _NEARLY, float(prices.max()), 1.0
    while not affordable(ranks := bought(low)):
        if low < _FREE:
            return np.ones_like(counts)
        low, high, step = low - step, low, 2 * step
    while high - low > _NEARLY:
        middle = (low + high) / 2
        found = bought(middle)
        if affordable(found):
            low, ranks = middle, found
        else:
            high = middle
    return ranks


def _one_by_one(counts: Ints, ranks: Ints, alpha: float, delta: float) -> Ints:
    """The same ranks, each raised further, the cheapest first, for as long as delta is enough."""
    ranks = _many_at_once(counts, ranks, alpha, delta)
    left = delta * (1 - _ROUNDING) - math.fsum(_tails(counts, ranks, alpha))
    waiting = [(float(price), g) for g, price in enumerate(_log_price(counts, ranks, alpha))]
    heapq.heapify(waiting)
    while waiting:
        _, g = heapq.heappop(waiting)
        one = slice(g, g + 1)
        cost = math.exp(_log_cost(counts[one], ranks[one], alpha)[0])
        if cost > left or ranks[g] == counts[g]:
            continue  # its further ranks are dearer, or there are none
        left -= cost
        ranks[g] += 1
        heapq.heappush(waiting, (float(_log_price(counts[one], ranks[one], alpha)[0]), g))
    return ranks


def _many_at_once(counts: Ints, ranks: Ints, alpha: float, delta: float) -> Ints:
    """Nearly all that is bought if the cheapest is bought first: everything below some price, found by bisection.

    Up to the mode a group's prices rise with its rank. So whoever buys one by one, and has enough for all of these, has
    bought just these when that price is reached.
    """
    highest = np.maximum(ranks, np.floor((counts + 1) * alpha).astype(np.int64))

    def bought(log_price: float) -> Ints:
        return bisect_ranks(
            highest, lambda k: (k <= ranks) | (_log_price(counts, np.maximum(k - 1, 1), alpha) <= log_price)
        )

    low, high = float(_log_price(counts, ranks, alpha).min()), float(_log_price(counts, highest, alpha).max())
    found, beyond = ranks, highest
    while math.fsum((beyond - found).tolist()) > _FEW_RANKS and low < (middle := (low + high) / 2) < high:
        tried = bought(middle)
        if math.fsum(_tails(counts, tried, alpha)) <= delta * (1 - _ROUNDING):
            low, found = middle, tried
        else:
            high, beyond = middle, tried
    return found.copy()


def _log_price(counts: Ints, ranks: Ints, alpha: float) -> Floats:
    """What the next rank costs, divided by its gain n log(1 + 1/k)."""
    return _log_cost(counts, ranks, alpha) - np.log(counts * np.log1p(1 / ranks))


def _log_cost(counts: Ints, ranks: Ints, alpha: float) -> Floats:
    """log(T_{k+1} - T_k) = log P(Binomial(n, alpha) = k)."""
    return log_density(counts + 1, ranks + 1, np.full(counts.size, alpha)) - np.log(counts + 1)


def _tails(counts: Ints, ranks: Ints, alpha: float) -> Floats:
    return np.exp(log_tail(counts, ranks, np.full(counts.size, alpha)))
