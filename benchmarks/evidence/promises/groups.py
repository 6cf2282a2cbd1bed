"""A threshold for each group: every group keeps alpha at once, with shares of delta that depend on the counts alone."""

import numpy as np
from numpy.typing import NDArray

from benchmarks.evidence.promises.family import Case, Family, Tally
from benchmarks.evidence.promises.score_world import World, batches
from certiset.core.bounds import ShareRule, group_shares

ALPHA = 0.1
SIZES: dict[str, list[int]] = {
    "1 group of 500 rows": [500],
    "5 groups of 50 to 1000 rows": [50, 100, 250, 500, 1000],
    "20 groups of 50 to 5000 rows": np.geomspace(50, 5000, 20).astype(np.int64).tolist(),
}
"""how many rows of each group are expected"""
HARD, ROWS_OF_HARD, EASY = 5, 150, 8
"""where groups are merged: hard groups, rows of each, and how many times as large the easy group is"""
_BATCH = 100
"""calibrations with the same counts: given them, each is a trial of its own"""


def simulate(
    *, runs: int, seed: int, sizes: str, delta: float, rule: ShareRule = "even", ties: int = 0, merged: bool = False
) -> list[Tally]:
    """Rows fall into groups at random; scores are uniform within each, so that a threshold's miscoverage is known."""
    rng, world = np.random.default_rng(seed), World(ties)
    if merged:
        return [Tally("every group at most alpha", delta, _merged(rng, runs, delta), runs, promised=False)]
    expected, broken, missed = np.array(SIZES[sizes]), 0, 0.0
    for calibrations in batches(runs, _BATCH):
        counts = rng.multinomial(expected.sum(), expected / expected.sum())
        failed = np.zeros(calibrations, dtype=np.bool_)
        for rows, rank in zip(counts.tolist(), group_shares(counts, ALPHA, delta, rule).ranks, strict=True):
            if rank:  # otherwise everything is in the set
                scores = rng.random((calibrations, rows))
                scores = np.floor(scores * ties) if ties else scores
                found = world.miscoverage(np.partition(scores, rows - rank, axis=1)[:, rows - rank])
                failed |= found > ALPHA + 1e-12
                missed += float(found.sum()) / len(counts)
        broken += int(np.count_nonzero(failed))
    return [Tally("every group at most alpha", delta, broken, runs, facts={"missed": missed / runs})]


def _merged(rng: np.random.Generator, runs: int, delta: float) -> int:
    """The hard group that has the fewest rows is merged with the easy one, whose scores are all 0.

    Which one it is depends on the counts of the calibration rows, so that there are fewer hard rows in the merged group
    than there will be.
    """
    parts, broken = np.append(np.ones(HARD), EASY), 0
    share = 1 / (1 + EASY)
    """of hard rows in a merged group"""
    for _ in range(runs):
        counts = rng.multinomial(ROWS_OF_HARD * (HARD + EASY), parts / parts.sum())
        smallest = int(np.argmin(counts[:HARD]))
        hard = np.delete(counts[:HARD], smallest)
        plan = group_shares(np.append(hard, counts[smallest] + counts[HARD]), ALPHA, delta, "equal")
        alone = [_uniform(rng, int(rows), rank) for rows, rank in zip(hard, plan.ranks[:-1], strict=True)]
        together = share * _uniform(rng, int(counts[smallest]), plan.ranks[-1])
        broken += max(*alone, together) > ALPHA
    return broken


def _uniform(rng: np.random.Generator, rows: int, rank: int) -> float:
    """What the threshold of that rank misses: with uniform scores a Beta variable; beyond all rows, everything."""
    if rank > rows:
        return 1.0
    scores: NDArray[np.float64] = rng.random(rows)
    return 1 - float(np.partition(scores, rows - rank)[rows - rank]) if rank else 0.0


FAMILY = Family(
    "groups",
    "groups",
    "Every group",
    f"Rows fall into groups at random, alpha = {ALPHA:g}; each group has a threshold of its own, and its share of "
    "delta follows from the counts: `even`, as fits share it, `equal` for all, or for the smallest sets (`size`). "
    "Uniform scores, or tied on 40 values. For comparison groups that are merged in view of the counts: of "
    f"{HARD} hard groups the one with the fewest rows joins an easy one.",
    simulate,
    [
        *[
            Case(
                f"{sizes}, shares `{rule}`{', ties' if ties else ''}",
                {"sizes": sizes, "delta": delta, "rule": rule, "ties": ties},
                runs=20_000,
                quick_runs=200,
                parts=4 if "20" in sizes else 1,
            )
            for sizes, rule, ties in (
                ("1 group of 500 rows", "even", 0),
                ("5 groups of 50 to 1000 rows", "even", 0),
                ("5 groups of 50 to 1000 rows", "even", 40),
                ("5 groups of 50 to 1000 rows", "size", 0),
                ("5 groups of 50 to 1000 rows", "equal", 0),
                ("20 groups of 50 to 5000 rows", "even", 0),
                ("20 groups of 50 to 5000 rows", "size", 0),
                ("20 groups of 50 to 5000 rows", "equal", 0),
            )
            for delta in (0.05, 0.2)
        ],
        Case(
            "groups **merged** by the counts of the calibration rows",
            {"sizes": "1 group of 500 rows", "delta": 0.05, "merged": True},
            runs=20_000,
            quick_runs=200,
        ),
    ],
)
