"""The best of many seeds on one data set: planned, it keeps its promise; unplanned, it does not.

Each seed splits the rows anew, and the smallest threshold is taken. Scores are uniform, so that a threshold's
miscoverage is known exactly: 1 - tau.
"""

import numpy as np

from benchmarks.evidence.promises.family import Case, Family, Tally
from benchmarks.evidence.promises.score_world import batches
from certiset.core.bounds import vovk_2b
from certiset.core.fit.options import FitOptions

SEEDS, ROWS, ALPHA = 20, 200, 0.1
_BATCH = 500


def simulate(*, runs: int, seed: int, delta: float, family: int) -> list[Tally]:
    """In how many trials the best of the seeds misses more than alpha, each calibrated as one of ``family``."""
    n = ROWS // 2
    options = FitOptions.read({"alpha": ALPHA, "delta": delta, "family": family})
    place = n - int(vovk_2b(n, ALPHA, options.own_delta))
    rng, broken = np.random.default_rng(seed), 0
    for size in batches(runs, _BATCH):
        scores = rng.random((size, ROWS), dtype=np.float32)
        best = np.ones(size)
        for _ in range(SEEDS):
            # A random half: the rows with the smaller of two halves of random keys.
            chosen = np.argpartition(rng.random((size, ROWS), dtype=np.float32), n, axis=1)[:, :n]
            half = np.take_along_axis(scores, chosen, axis=1)
            best = np.minimum(best, np.partition(half, place, axis=1)[:, place])
        broken += int(np.count_nonzero(1 - best > ALPHA))
    return [Tally(f"the best of {SEEDS} seeds", delta, broken, runs, promised=family >= SEEDS)]


FAMILY = Family(
    "attempts",
    "attempts",
    f"The best of {SEEDS} seeds",
    f"{ROWS} rows, alpha = {ALPHA:g}; each seed calibrates on another half of them, and the smallest sets are taken. "
    f"`family: {SEEDS}` shares delta among them beforehand. Without it each keeps its own promise, and the best of "
    "them does not: the certificate says which attempt it is.",
    simulate,
    [
        Case(
            f"`family: {SEEDS}`" if family > 1 else "**without** `family`",
            {"delta": delta, "family": family},
            runs=20_000,
            quick_runs=1000,
        )
        for family in (SEEDS, 1)
        for delta in (0.05, 0.2)
    ],
)
