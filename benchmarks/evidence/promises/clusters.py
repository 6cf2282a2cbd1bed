"""Rows that belong together: one row of each cluster calibrates, drawn by the split that fits use."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from benchmarks.evidence.promises.family import Case, Family, Tally
from benchmarks.evidence.promises.score_world import Array
from certiset.core.bounds import vovk_2b
from certiset.core.data.arrays import CheckedData
from certiset.core.fit.splitting import count_units, split

CLUSTERS, ALPHA = 120, 0.2

SIZES: dict[str, Callable[[Array, np.random.Generator], NDArray[np.int64]]] = {
    "hard ones are large": lambda difficulty, rng: 1 + np.floor(6 * difficulty).astype(np.int64),
    "sizes at random": lambda difficulty, rng: np.minimum(rng.geometric(0.25, len(difficulty)), 30),
    "four rows each": lambda difficulty, rng: np.full(len(difficulty), 4),
}
"""how many rows a cluster has"""


def simulate(
    *, runs: int, seed: int, sizes: str, delta: float, alike: float = 1.0, clustered: bool = True
) -> list[Tally]:
    """A row has the score of its cluster with probability ``alike`` and otherwise one of its own, all uniform.

    What one random row of a new cluster misses is then 1 - tau, exactly.
    """
    rng, broken, ranks = np.random.default_rng(seed), 0, {}
    for run in range(runs):
        difficulty = rng.random(CLUSTERS)
        numbers = np.repeat(np.arange(CLUSTERS), SIZES[sizes](difficulty, rng))
        scores = difficulty[numbers]
        if alike < 1:
            scores = np.where(rng.random(len(scores)) < alike, scores, rng.random(len(scores)))
        data = CheckedData(np.zeros((len(scores), 1)), scores, clusters=numbers if clustered else None)
        chosen = scores[split(run, 0, data).calibration.numpy()]
        n, _ = count_units(data)
        if n not in ranks:
            ranks[n] = int(vovk_2b(n, ALPHA, delta))
        broken += bool(1 - np.partition(chosen, n - ranks[n])[n - ranks[n]] > ALPHA)
    return [Tally("one row of a new cluster", delta, broken, runs, promised=clustered)]


FAMILY = Family(
    "clusters",
    "rows",
    "Several rows of each patient",
    f"{CLUSTERS} patients with several rows each, alpha = {ALPHA:g}. With `clusters` one random row of each "
    "calibrates. Without, all rows do, as if they were independent: nothing is promised then (the certificate has "
    "a caveat where rows are nearly equal), and this is what happens.",
    simulate,
    [
        Case(
            f"{sizes}{'' if alike == 1 else ', half of the rows have scores of their own'}"
            f"{'' if clustered else ', **without** `clusters`'}",
            {"sizes": sizes, "delta": delta, "alike": alike, "clustered": clustered},
            runs=10_000 if clustered else 2000,
            quick_runs=200,
        )
        for sizes, alike, clustered in (
            ("hard ones are large", 1.0, True),
            ("sizes at random", 1.0, True),
            ("sizes at random", 0.5, True),
            ("sizes at random", 1.0, False),
            ("four rows each", 1.0, False),
        )
        for delta in (0.05, 0.2)
    ],
)
