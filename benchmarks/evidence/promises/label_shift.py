"""Another mixture of classes, with known prevalences: rows are drawn by class, and calibrate for the target."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from benchmarks.evidence.promises.family import Case, Family, Tally
from certiset.core.bounds import ExhaustedClassError, label_shift_rows, vovk_2b

ROWS, ALPHA = 1000, 0.1
CALIBRATION = np.array([0.5, 0.25, 0.15, 0.1])
SCALES = np.array([1.0, 1.5, 2.0, 3.0])
"""of the true label's score, which is exponential"""
TARGETS = {
    "hard classes are more frequent": np.array([0.2, 0.25, 0.3, 0.25]),
    "mostly the rarest class": np.array([0.05, 0.05, 0.1, 0.8]),
    "easy classes are more frequent": np.array([0.7, 0.2, 0.1, 0.0]),
}
Draw = Literal["once", "again", "all"]
"""once, as is promised; again until no class runs out; or all rows as they are"""


def simulate(
    *, runs: int, seed: int, target: str, delta: float, epsilon: float = 0.01, draw: Draw = "once"
) -> list[Tally]:
    """Given the class, scores have the same law in both mixtures; the target misses sum_y pi_y exp(-tau / h_y)."""
    prevalences, rng = TARGETS[target], np.random.default_rng(seed)
    made = broken = 0
    missed, ranks = 0.0, dict[int, int]()
    for _ in range(runs):
        labels = np.repeat(np.arange(len(CALIBRATION)), rng.multinomial(ROWS, CALIBRATION))
        rows = _rows(labels, prevalences, rng, epsilon, draw)
        if rows is None:
            continue  # no certificate, and so no false one
        scores, n = SCALES[labels[rows]] * rng.standard_exponential(rows.size), rows.size
        if n not in ranks:
            ranks[n] = int(vovk_2b(n, ALPHA, delta))
        tau = np.partition(scores, n - ranks[n])[n - ranks[n]]
        found = float(prevalences @ np.exp(-tau / SCALES))
        made, broken, missed = made + 1, broken + (found > ALPHA), missed + found
    facts = {"missed": missed / max(made, 1)}
    coverage = Tally("at most alpha on the target", delta, broken, runs, promised=draw == "once", facts=facts)
    return [coverage, Tally("no class runs out", epsilon, runs - made, runs)] if draw == "once" else [coverage]


def _rows(
    labels: NDArray[np.int64], prevalences: NDArray[np.float64], rng: np.random.Generator, epsilon: float, draw: Draw
) -> NDArray[np.int64] | None:
    if draw == "all":
        return np.arange(labels.size)
    while True:
        try:
            return label_shift_rows(labels, prevalences, rng, epsilon)
        except ExhaustedClassError:
            if draw == "once":
                return None


_WORDS = {
    "once": "epsilon = {:g}",
    "again": "epsilon = {:g}, drawn **again** until no class runs out",
    "all": "**all** rows as they are",
}

FAMILY = Family(
    "label_shift",
    "population",
    "Classes with known prevalences",
    f"{ROWS:,} rows of four classes, alpha = {ALPHA:g}; on the target classes have other frequencies, which are known. "
    "Labels are drawn by them, and for each a row of that class; if a class runs out, which happens with probability "
    "epsilon at most, there is no certificate, and no false one. For comparison all rows as they are, and draws that "
    "are repeated until no class runs out.",
    simulate,
    [
        Case(
            f"{target}, {_WORDS[draw].format(epsilon)}",
            {"target": target, "delta": delta, "epsilon": epsilon, "draw": draw},
            runs=20_000,
            quick_runs=200,
        )
        for target, epsilon, draw in (
            ("hard classes are more frequent", 0.01, "once"),
            ("hard classes are more frequent", 0.2, "once"),
            ("mostly the rarest class", 0.01, "once"),
            ("easy classes are more frequent", 0.01, "once"),
            ("hard classes are more frequent", 0.9, "again"),
            ("hard classes are more frequent", 0.01, "all"),
        )
        for delta in (0.05, 0.2)
    ],
)
