"""Which groups get a threshold: those that occur among all rows, or those that D_0 says, with one for all others."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.evidence.promises.family import Case, Family, Tally
from certiset.core.bounds import group_shares, smallest_n_2b

GROUPS, ROWS, ALPHA = 40, 1200, 0.1
SHARES = 1 / np.arange(1, GROUPS + 1) ** 1.5
SHARES /= SHARES.sum()
HEIGHTS = np.where(np.arange(GROUPS) % 3 == 0, 4.0, 1.0)
"""of the scores of each group, which are uniform from 0 on"""


def simulate(*, runs: int, seed: int, delta: float, other: bool, peeking: bool = False) -> list[Tally]:
    """Half of the rows tune where there is an other group; with ``peeking`` its list is made by D_N's counts."""
    rng, broken, listed = np.random.default_rng(seed), 0, 0.0
    for _ in range(runs):
        groups = rng.choice(GROUPS, size=ROWS, p=SHARES)
        scores = HEIGHTS[groups] * rng.random(ROWS)
        first = groups[: ROWS // 2] if other else groups[:0]
        rest = _Rows(groups[len(first) :], scores[len(first) :])
        names = _large(rest.groups if peeking else first, delta) if other else np.unique(groups)
        broken += _fails(rest, names, delta, other=other)
        listed += len(names)
    return [
        Tally("every group at most alpha", delta, broken, runs, promised=not peeking, facts={"listed": listed / runs})
    ]


@dataclass(frozen=True)
class _Rows:
    groups: NDArray[np.int64]
    scores: NDArray[np.float64]


def _large(groups: NDArray[np.int64], delta: float) -> NDArray[np.int64]:
    """As a fit lists them: those with enough rows, going by these, for a finite threshold."""
    found, counts = np.unique(groups, return_counts=True)
    return found[counts >= smallest_n_2b(ALPHA, delta / (len(found) + 1))]


def _fails(rows: _Rows, names: NDArray[np.int64], delta: float, *, other: bool) -> bool:
    parts = [rows.scores[rows.groups == name] for name in names]
    laws = [np.array([name]) for name in names]
    if other:
        unlisted = np.setdiff1d(np.arange(GROUPS), names)
        parts.append(rows.scores[np.isin(rows.groups, unlisted)])
        laws.append(unlisted)
    ranks = group_shares([len(part) for part in parts], ALPHA, delta).ranks
    for part, law, rank in zip(parts, laws, ranks, strict=True):
        if rank:
            tau = np.partition(part, len(part) - rank)[len(part) - rank]
            missed = np.maximum(0.0, 1 - tau / HEIGHTS[law]) @ SHARES[law] / SHARES[law].sum()
            if missed > ALPHA:
                return True
    return False


FAMILY = Family(
    "listed_groups",
    "groups",
    "Which groups are listed",
    f"{GROUPS} groups, the first {GROUPS**1.5:.0f} times as frequent as the last, {ROWS:,} rows, every third group "
    f"four times as hard, alpha = {ALPHA:g}. Listed are the groups that occur among the rows, each with a threshold; "
    "or those that are frequent enough in one half of the rows, while all others share one threshold (`other`), on the "
    "other half.",
    simulate,
    [
        Case(name, {"delta": delta, **settings}, runs=20_000, quick_runs=200, parts=2)
        for name, settings in (
            ("the groups that occur", {"other": False}),
            ("the frequent groups of D_0, and one threshold for all others", {"other": True}),
        )
        for delta in (0.05, 0.2)
    ],
)
