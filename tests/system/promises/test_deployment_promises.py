"""A deployment that is recalibrated on its outcomes is broken no more often than its account says."""

import numpy as np
import pytest

from benchmarks.evidence.promises.deployment_world import recalibrate
from benchmarks.evidence.promises.margin import within_margin

RUNS = 20_000


@pytest.mark.parametrize("total", [0.05, 0.2])
@pytest.mark.parametrize("pool", [False, True])
def test_recalibrated_ten_times_without_drift_it_is_broken_no_more_often_than_its_account_says(
    total: float, pool: bool
) -> None:
    found = recalibrate(runs=RUNS, seed=int(1000 * total), rows=300, delta=total / 11, pool=pool)
    # Each block that began is on the account, those that a false alarm dropped included.
    spent = float(found.spent.mean())
    assert spent == pytest.approx(total, rel=0.05)
    some = int(np.count_nonzero(found.broken))
    assert within_margin(some, RUNS, spent), (some, spent)
    # The law is exact but for whole ranks; pools that share a block are broken together.
    assert some > 0.2 * total * RUNS
    assert np.count_nonzero(found.alarms) <= 0.15 * RUNS


@pytest.mark.parametrize("pool", [False, True])
def test_under_drift_the_predictors_after_an_alarm_are_calibrated_on_new_rows_alone(pool: bool) -> None:
    delta = 0.05
    found = recalibrate(runs=4000, seed=7, rows=300, delta=delta, drift_after=1000, pool=pool)
    assert found.after_alarm > 3500, "the drift is noticed"
    assert within_margin(found.broken_after_alarm, found.after_alarm, delta), found


def test_a_block_that_ends_by_its_own_outcomes_is_broken_more_often() -> None:
    honest = recalibrate(runs=2000, seed=3, rows=300, delta=0.05, predictors=3)
    peeking = recalibrate(runs=2000, seed=3, rows=300, delta=0.05, predictors=3, ended_by="outcomes")
    # The first predictor is nobody's doing.
    assert peeking.broken.mean() > 1.3 * honest.broken.mean()
