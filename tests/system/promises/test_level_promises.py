"""All alpha at once: the worst of all levels, chosen afterwards, is broken no more often than delta, and as often."""

import pytest

from benchmarks.evidence.promises.all_levels import simulate
from benchmarks.evidence.promises.margin import within_margin

DELTA = 0.1


@pytest.mark.parametrize(("n", "runs"), [(200, 20_000), (500, 10_000), (20_000, 300)])
def test_a_level_that_is_chosen_after_everything_was_seen_keeps_the_promise(n: int, runs: int) -> None:
    grid, anywhere = simulate(runs=runs, seed=n, n=n, delta=DELTA)
    assert grid.broken <= anywhere.broken
    assert within_margin(anywhere.broken, runs, DELTA), anywhere
    assert anywhere.broken > 0.7 * DELTA * runs, "the levels use up delta"


def test_ties_keep_it_too() -> None:
    grid, anywhere = simulate(runs=4000, seed=1, n=200, delta=DELTA, ties=50)
    assert grid.broken <= anywhere.broken
    assert within_margin(anywhere.broken, 4000, DELTA), anywhere


def test_ranks_that_hold_for_one_alpha_alone_do_not_hold_for_the_worst_of_them() -> None:
    (apart,) = simulate(runs=2000, seed=2, n=200, delta=DELTA, each_alone=True)
    assert not apart.promised
    assert apart.broken > 2.5 * DELTA * 2000
