"""Rows that were copied: with clusters by equal rows each counts once, without them the promise is broken."""

import numpy as np

from benchmarks.evidence.promises.family import Case, Family, Tally
from certiset.core.bounds import vovk_2b
from certiset.core.data.arrays import CheckedData
from certiset.core.data.row_hashes import equal_row_codes
from certiset.core.fit.splitting import count_units, split

ROWS, ALPHA = 120, 0.2


def simulate(*, runs: int, seed: int, times: int, delta: float, clustered: bool = True) -> list[Tally]:
    """Each of the rows, in three continuous columns, stands there so many times; scores are uniform."""
    rng, broken = np.random.default_rng(seed), 0
    n = ROWS if clustered else ROWS * times
    place = n - int(vovk_2b(n, ALPHA, delta))
    for run in range(runs):
        x, scores = np.repeat(rng.normal(size=(ROWS, 3)), times, axis=0), np.repeat(rng.random(ROWS), times)
        codes = np.unique(equal_row_codes(x), return_inverse=True)[1].astype(np.int64) if clustered else None
        data = CheckedData(x, scores, clusters=codes)
        assert count_units(data)[0] == n
        chosen = scores[split(run, 0, data).calibration.numpy()]
        broken += bool(1 - np.partition(chosen, place)[place] > ALPHA)
    return [Tally("at most alpha is missed", delta, broken, runs, promised=clustered or times == 1)]


FAMILY = Family(
    "duplicates",
    "rows",
    "Rows that were copied",
    f"{ROWS} independent rows, each of them copied, alpha = {ALPHA:g}. `clusters: equal_rows` lets each count once; "
    "without it nothing is promised (and a caveat names the share of equal rows).",
    simulate,
    [
        Case(
            f"every row {times} times{'' if clustered else ', **without** `clusters`'}",
            {"times": times, "delta": delta, "clustered": clustered},
            runs=4000 if clustered else 2000,
            quick_runs=200,
        )
        for times, clustered in ((2, True), (5, True), (2, False), (5, False), (10, False))
        for delta in (0.05, 0.2)
    ],
)
