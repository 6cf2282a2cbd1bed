"""The best of many seeds on one data set: planned, it keeps its promise; unplanned, it does not.

Each seed splits the rows anew, and the smallest threshold is taken. Scores are uniform, so that a threshold's
miscoverage is known exactly: 1 - tau.
"""

import numpy as np

from certiset.core.bounds import vovk_2b
from tests.system.promises.prior_of_scores import within_margin

TRIALS = 20_000
SEEDS = 20
ROWS = 200
ALPHA, DELTA = 0.1, 0.05


def broken(delta: float, seed: int) -> int:
    """In how many trials the best of the seeds misses more than alpha, if each is calibrated at that delta."""
    n = ROWS // 2
    place = n - int(vovk_2b(n, ALPHA, delta))
    random, found = np.random.default_rng(seed), 0
    for _ in range(TRIALS // 500):
        scores = random.random((500, ROWS))
        best = np.ones(500)
        for _ in range(SEEDS):
            half = random.permuted(scores, axis=1)[:, :n]
            best = np.minimum(best, np.partition(half, place, axis=1)[:, place])
        found += int(np.count_nonzero(1 - best > ALPHA))
    return found


def test_the_best_of_planned_attempts_is_broken_no_more_often_than_the_sentence_says() -> None:
    found = broken(DELTA / SEEDS, seed=0)
    assert within_margin(found, TRIALS, DELTA), f"{found} of {TRIALS}"
    assert found > 0.2 * DELTA * TRIALS, "the union bound is not so loose that nothing is tested"


def test_the_best_of_attempts_that_nobody_counted_is_broken_far_more_often() -> None:
    found = broken(DELTA, seed=1)
    assert found > 3 * DELTA * TRIALS, f"{found} of {TRIALS}"
