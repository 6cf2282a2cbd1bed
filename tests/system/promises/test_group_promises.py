"""Every group and every class at once, over thousands of calibrations whose true miscoverage is known."""

import pytest

from benchmarks.evidence.promises import classes, groups
from benchmarks.evidence.promises.margin import within_margin
from certiset.core.bounds import ShareRule

DELTA = 0.1


@pytest.mark.parametrize(
    ("sizes", "rule", "runs"),
    [
        ("1 group of 500 rows", "size", 20_000),
        ("5 groups of 50 to 1000 rows", "size", 4000),
        ("5 groups of 50 to 1000 rows", "equal", 4000),
        ("20 groups of 50 to 5000 rows", "size", 1000),
    ],
)
def test_every_group_keeps_the_promise_at_once(sizes: str, rule: ShareRule, runs: int) -> None:
    (found,) = groups.simulate(runs=runs, seed=0, sizes=sizes, delta=DELTA, rule=rule)
    assert within_margin(found.broken, runs, DELTA), found
    assert found.broken > 0.5 * DELTA * runs, "the setting must come close to breaking it"


def test_groups_whose_scores_are_tied_keep_it_too() -> None:
    (found,) = groups.simulate(runs=2000, seed=1, sizes="5 groups of 50 to 1000 rows", delta=DELTA, ties=40)
    assert within_margin(found.broken, 2000, DELTA), found


def test_groups_that_are_merged_by_the_counts_of_the_calibration_rows_break_it() -> None:
    """Which is why the list of groups comes from elsewhere."""
    runs, delta = 2000, 0.05
    (found,) = groups.simulate(runs=runs, seed=2, sizes="1 group of 500 rows", delta=delta, merged=True)
    assert found.broken > 1.1 * delta * runs, found


def test_every_class_keeps_the_promise_at_once_and_one_threshold_for_all_does_not() -> None:
    (found,) = classes.simulate(runs=4000, seed=3, rows=1000, delta=DELTA)
    assert within_margin(found.broken, 4000, DELTA), found
    assert found.broken > 0.5 * DELTA * 4000
    (one,) = classes.simulate(runs=500, seed=3, rows=1000, delta=DELTA, one_for_all=True)
    assert one.broken > 450
