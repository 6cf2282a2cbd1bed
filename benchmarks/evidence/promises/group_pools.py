"""A pool with a threshold for each group in every block: every group keeps alpha at once, on average over the pool."""

import numpy as np

from benchmarks.evidence.promises.family import Case, Family, Tally
from benchmarks.evidence.promises.score_world import World, batches
from certiset.core.bounds import pool_group_shares

ALPHA = 0.1
SIZES: dict[str, list[int]] = {
    "1 group of 500 rows": [500],
    "5 groups of 100 to 1000 rows": [100, 200, 300, 500, 1000],
    "20 groups of 100 to 5000 rows": np.geomspace(100, 5000, 20).astype(np.int64).tolist(),
}
"""how many rows of each group are expected in all blocks together"""
_BATCH = 100
"""calibrations with the same counts: given them, each is a trial of its own"""


def simulate(*, runs: int, seed: int, sizes: str, delta: float, blocks: int = 2, ties: int = 0) -> list[Tally]:
    """Rows fall into groups and blocks at random; scores are uniform, whatever was learned from the blocks before."""
    rng, world = np.random.default_rng(seed), World(ties)
    expected, broken, missed = np.array(SIZES[sizes]), 0, 0.0
    weights = np.arange(1, blocks + 1) / np.arange(1, blocks + 1).sum() if blocks > 2 else np.full(2, 0.5)
    for calibrations in batches(runs, _BATCH):
        rows = np.round(expected.sum() * weights).astype(np.int64)
        counts = np.stack([rng.multinomial(size, expected / expected.sum()) for size in rows], axis=1)
        found = pool_group_shares(counts, ALPHA, delta, weights)
        failed = np.zeros(calibrations, dtype=np.bool_)
        for own, ranks in zip(counts.tolist(), found.ranks, strict=True):
            if not any(ranks):  # everything is in its sets
                continue
            pool = np.zeros(calibrations)
            for weight, size, rank in zip(weights, own, ranks, strict=True):
                scores = rng.random((calibrations, size))
                scores = np.floor(scores * ties) if ties else scores
                pool += weight * world.miscoverage(np.partition(scores, size - rank, axis=1)[:, size - rank])
            failed |= pool > ALPHA + 1e-12
            missed += float(pool.sum()) / len(counts)
        broken += int(np.count_nonzero(failed))
    return [Tally("every group at most alpha", delta, broken, runs, facts={"missed": missed / runs})]


FAMILY = Family(
    "group_pools",
    "groups",
    "Every group, by a pool",
    f"Rows fall into groups and blocks at random, alpha = {ALPHA:g}; every group has a threshold in each block, and a "
    "member of the pool is drawn for an input, whatever its group. The promise is for the mean over the pool, in every "
    "group at once. Uniform scores, or tied on 40 values; blocks of one size, or three that grow.",
    simulate,
    [
        Case(
            f"{sizes}, {blocks} blocks{', ties' if ties else ''}",
            {"sizes": sizes, "delta": delta, "blocks": blocks, "ties": ties},
            runs=20_000,
            quick_runs=200,
            parts=4 if "20" in sizes else 1,
        )
        for sizes, blocks, ties in (
            ("1 group of 500 rows", 2, 0),
            ("5 groups of 100 to 1000 rows", 2, 0),
            ("5 groups of 100 to 1000 rows", 2, 40),
            ("5 groups of 100 to 1000 rows", 3, 0),
            ("20 groups of 100 to 5000 rows", 2, 0),
        )
        for delta in (0.05, 0.2)
    ],
)
