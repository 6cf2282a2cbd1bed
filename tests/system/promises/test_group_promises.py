"""Every group and every class at once, over thousands of calibrations whose true miscoverage is known."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.evidence.promises import classes, group_pools, groups, listed_groups
from benchmarks.evidence.promises.margin import within_margin
from certiset.core.bounds import ShareRule
from certiset.core.fit import fit
from certiset.core.models import Model

DELTA = 0.1


@pytest.mark.parametrize(
    ("sizes", "rule", "runs"),
    [
        ("1 group of 500 rows", "even", 20_000),
        ("5 groups of 50 to 1000 rows", "even", 4000),
        ("5 groups of 50 to 1000 rows", "size", 4000),
        ("5 groups of 50 to 1000 rows", "equal", 4000),
        ("20 groups of 50 to 5000 rows", "even", 1000),
    ],
)
def test_every_group_keeps_the_promise_at_once(sizes: str, rule: ShareRule, runs: int) -> None:
    (found,) = groups.simulate(runs=runs, seed=0, sizes=sizes, delta=DELTA, rule=rule)
    assert within_margin(found.broken, runs, DELTA), found
    assert found.broken > 0.5 * DELTA * runs, "the setting must come close to breaking it"


def test_groups_whose_scores_are_tied_keep_it_too() -> None:
    (found,) = groups.simulate(runs=2000, seed=1, sizes="5 groups of 50 to 1000 rows", delta=DELTA, ties=40)
    assert within_margin(found.broken, 2000, DELTA), found


@pytest.mark.parametrize(
    ("sizes", "blocks", "runs"),
    [
        ("1 group of 500 rows", 2, 10_000),
        ("5 groups of 100 to 1000 rows", 2, 4000),
        ("5 groups of 100 to 1000 rows", 3, 2000),
    ],
)
def test_every_group_keeps_the_promise_of_a_pool_at_once(sizes: str, blocks: int, runs: int) -> None:
    (found,) = group_pools.simulate(runs=runs, seed=5, sizes=sizes, delta=DELTA, blocks=blocks)
    assert within_margin(found.broken, runs, DELTA), found
    assert found.broken > 0.5 * DELTA * runs, "the setting must come close to breaking it"
    (tied,) = group_pools.simulate(runs=1000, seed=6, sizes=sizes, delta=DELTA, blocks=blocks, ties=40)
    assert within_margin(tied.broken, 1000, DELTA), tied


def test_groups_that_are_merged_by_the_counts_of_the_calibration_rows_break_it() -> None:
    """Which is why the list of groups comes from elsewhere."""
    runs, delta = 2000, 0.05
    (found,) = groups.simulate(runs=runs, seed=2, sizes="1 group of 500 rows", delta=delta, merged=True)
    assert found.broken > 1.1 * delta * runs, found


@pytest.mark.parametrize("other", [False, True])
def test_groups_that_occur_and_an_other_group_listed_by_tuning_rows_keep_it(other: bool) -> None:
    (found,) = listed_groups.simulate(runs=2000, seed=4, delta=DELTA, other=other)
    assert within_margin(found.broken, 2000, DELTA), found
    assert found.broken > 0.3 * DELTA * 2000


def test_every_class_keeps_the_promise_at_once_and_one_threshold_for_all_does_not() -> None:
    (found,) = classes.simulate(runs=4000, seed=3, rows=1000, delta=DELTA)
    assert within_margin(found.broken, 4000, DELTA), found
    assert found.broken > 0.5 * DELTA * 4000
    (one,) = classes.simulate(runs=500, seed=3, rows=1000, delta=DELTA, one_for_all=True)
    assert one.broken > 450


@pytest.mark.parametrize(
    "options", [{"method": "standard"}, {"method": "learned", "prior": {"train": "mean", "steps": 2}}]
)
def test_the_mean_size_with_a_threshold_for_each_class_is_within_its_bound(options: dict[str, Any]) -> None:
    """Whole fits, each held against the mean size over a hundred thousand inputs."""
    runs, gamma, stated, broken = 60, 0.2, 0, 0
    model = Model.from_manifest({"name": "m", "task": "classification", "classes": 3, "input_shape": [3]})

    def drawn(rows: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        rng = np.random.default_rng(seed)
        y = rng.integers(3, size=rows)
        return 1.5 * np.eye(3)[y] + rng.normal(size=(rows, 3)), y

    test, _ = drawn(100_000, 0)
    for seed in range(1, runs + 1):
        found = fit(model, *drawn(400, seed), groups="class", gamma=gamma, alpha=0.2, **options)
        bound = found.certificate.efficiency.upper_bound
        stated += bound is not None
        broken += bound is not None and found.predict_set(test).size.mean() > bound
    assert stated > 0.8 * runs
    assert within_margin(broken, runs, gamma), (broken, stated)
