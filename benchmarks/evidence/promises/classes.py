"""A threshold for each class: a label enters the set if its score is at most that of its class."""

import numpy as np

from benchmarks.evidence.promises.family import Case, Family, Tally
from benchmarks.evidence.promises.score_world import batches
from certiset.core.bounds import group_shares, vovk_2b

CLASSES, ALPHA = 10, 0.1
PREVALENCES = 1 / np.arange(1, CLASSES + 1)
PREVALENCES /= PREVALENCES.sum()
SCALES = 1 + np.arange(CLASSES) / 3
"""of the true label's score, which is exponential: rare classes are hard"""
_BATCH = 100
"""calibrations with the same counts"""


def simulate(*, runs: int, seed: int, rows: int, delta: float, one_for_all: bool = False) -> list[Tally]:
    """In how many calibrations some class is missed more often than alpha; class y is missed with exp(-tau / h)."""
    rng, broken, missed = np.random.default_rng(seed), 0, 0.0
    for calibrations in batches(runs, _BATCH):
        counts = rng.multinomial(rows, PREVALENCES)
        ranks = group_shares(counts, ALPHA, delta).ranks
        scores = [h * rng.standard_exponential((calibrations, n)) for h, n in zip(SCALES, counts, strict=True)]
        if one_for_all:
            place = rows - int(vovk_2b(rows, ALPHA, delta))
            tau = np.partition(np.concatenate(scores, axis=1), place, axis=1)[:, place]
            taus = np.repeat(tau[:, None], CLASSES, axis=1)  # (calibrations, classes)
        else:
            taus = np.full((calibrations, CLASSES), np.inf)
            for y, (n, rank) in enumerate(zip(counts.tolist(), ranks, strict=True)):
                if rank:
                    taus[:, y] = np.partition(scores[y], n - rank, axis=1)[:, n - rank]
        found = np.exp(-taus / SCALES)
        broken += int(np.count_nonzero(np.any(found > ALPHA, axis=1)))
        missed += float((found @ PREVALENCES).sum())
    return [
        Tally(
            "every class at most alpha, and so every mixture",
            delta,
            broken,
            runs,
            promised=not one_for_all,
            facts={"missed": missed / runs},
        )
    ]


FAMILY = Family(
    "classes",
    "groups",
    "Every class",
    f"{CLASSES} classes, the first ten times as frequent as the last; exponential scores, larger in rare classes; "
    f"alpha = {ALPHA:g}. With a threshold for each class every class keeps alpha, and so does any mixture of them, "
    "however it is chosen. One threshold for all keeps it on average alone.",
    simulate,
    [
        Case(
            f"{rows:,} rows, {'**one** threshold for all classes' if one_for_all else 'a threshold for each class'}",
            {"rows": rows, "delta": delta, "one_for_all": one_for_all},
            runs=20_000,
            quick_runs=200,
        )
        for rows, one_for_all in ((1000, False), (5000, False), (1000, True))
        for delta in (0.05, 0.2)
    ],
)
