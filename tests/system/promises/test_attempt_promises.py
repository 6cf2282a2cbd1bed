"""The best of many seeds on one data set: planned, it keeps its promise; unplanned, it does not."""

from benchmarks.evidence.promises.attempts import SEEDS, simulate
from benchmarks.evidence.promises.margin import within_margin

TRIALS, DELTA = 20_000, 0.05


def test_the_best_of_planned_attempts_is_broken_no_more_often_than_the_sentence_says() -> None:
    (found,) = simulate(runs=TRIALS, seed=0, delta=DELTA, family=SEEDS)
    assert within_margin(found.broken, TRIALS, DELTA), found
    assert found.broken > 0.2 * DELTA * TRIALS, "the union bound is not so loose that nothing is tested"


def test_the_best_of_attempts_that_nobody_counted_is_broken_far_more_often() -> None:
    (found,) = simulate(runs=TRIALS, seed=1, delta=DELTA, family=1)
    assert found.broken > 3 * DELTA * TRIALS, found
