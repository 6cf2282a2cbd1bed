"""Coverage on another population, whose weights or prevalences are known, over thousands of calibrations."""

from typing import Any

import pytest

from benchmarks.evidence.promises import covariate_shift, estimated_shift, label_shift, shifted_fits
from benchmarks.evidence.promises.margin import within_margin

RUNS, DELTA = 2000, 0.1


@pytest.mark.parametrize("shift", [name for name, law in covariate_shift.SHIFTS.items() if law.bound is not None])
def test_thinned_rows_keep_the_promise_on_the_target(shift: str) -> None:
    (found,) = covariate_shift.simulate(runs=RUNS, seed=0, shift=shift, delta=DELTA)
    assert found.made == RUNS
    assert within_margin(found.broken, RUNS, DELTA), found
    assert found.broken > 0.5 * DELTA * RUNS, "the setting must come close to breaking it"


def test_rows_as_they_are_and_the_largest_weight_seen_as_a_bound_break_it() -> None:
    (found,) = covariate_shift.simulate(
        runs=200, seed=1, shift="hard inputs are more frequent", delta=DELTA, thinned=False
    )
    assert found.broken > 190
    (seen,) = covariate_shift.simulate(
        runs=500, seed=1, shift="**unbounded** weights, the largest seen as the bound", delta=DELTA
    )
    assert not seen.promised
    assert seen.broken == seen.made > 0


@pytest.mark.parametrize("target", label_shift.TARGETS)
def test_rows_drawn_by_class_keep_the_promise_on_the_target_and_classes_rarely_run_out(target: str) -> None:
    found, exhausted = label_shift.simulate(runs=RUNS, seed=2, target=target, delta=DELTA, epsilon=0.05)
    assert within_margin(found.broken, RUNS, DELTA), found
    assert found.broken > 0.5 * DELTA * RUNS
    assert within_margin(exhausted.broken, RUNS, 0.05), exhausted
    assert exhausted.broken > 0.25 * 0.05 * RUNS, "m is nearly as large as it may be"


def test_draws_that_are_repeated_until_no_class_runs_out_break_it() -> None:
    target = "hard classes are more frequent"
    (again,) = label_shift.simulate(runs=600, seed=3, target=target, delta=0.2, epsilon=0.9, draw="again")
    assert not within_margin(again.broken, 600, 0.2), again
    (all_rows,) = label_shift.simulate(runs=200, seed=3, target=target, delta=DELTA, draw="all")
    assert all_rows.broken > 190


def test_estimated_weights_help_where_the_classifier_sees_the_shift() -> None:
    settings: dict[str, Any] = {"shift": "the mean moves by a deviation", "rows": 1000, "target": 500, "delta": DELTA}
    (as_they_are,) = estimated_shift.simulate(runs=100, seed=4, estimated=False, **settings)
    (estimated,) = estimated_shift.simulate(runs=300, seed=4, **settings)
    assert not estimated.promised
    assert as_they_are.broken > 95
    assert estimated.broken < 0.5 * estimated.made


@pytest.mark.parametrize(("kind", "rows"), [("weights", 300), ("prevalences", 300), ("all", 150)])
def test_whole_fits_choose_rows_and_levels_as_the_theorems_ask(kind: str, rows: int) -> None:
    runs = 100
    for found in shifted_fits.simulate(runs=runs, seed=5, kind=kind, rows=rows, delta=0.2):
        assert found.made == runs
        assert within_margin(found.broken, runs, found.level), found
