"""A certificate that holds is contradicted with probability at most eta, however long it is watched."""

import numpy as np
import pytest

from benchmarks.evidence.promises import interval, monitor, size_monitor
from benchmarks.evidence.promises.margin import within_margin
from certiset.core.bounds import MeanSupermartingale

STREAMS, OUTCOMES, ETA = 4000, 10_000, 0.05


def alarms(streams: str, runs: int, length: int, eta: float, seed: int) -> int:
    (found,) = monitor.simulate(runs=runs, seed=seed, streams=streams, length=length, eta=eta)
    return found.broken


@pytest.mark.parametrize("rate", ["always alpha", "drifting, at most alpha"])
@pytest.mark.parametrize("eta", [0.01, ETA, 0.2])
def test_false_alarms_stay_within_eta(rate: str, eta: float) -> None:
    found = alarms(rate, STREAMS, OUTCOMES, eta, seed=int(1000 * eta))
    assert within_margin(found, STREAMS, eta), f"{found} of {STREAMS}"


def test_a_slightly_broken_promise_raises_the_alarm_almost_always() -> None:
    assert alarms("really missed: 1.3 alpha", STREAMS, OUTCOMES, ETA, seed=3) > 0.95 * STREAMS


@pytest.mark.parametrize("rate", [0.02, 0.1, 0.5])
def test_the_interval_for_the_miscoverage_holds_at_every_moment_at_once(rate: float) -> None:
    """Looked at after every outcome, it excludes the truth at any time in at most eta of the histories."""
    eta, histories = 0.1, 2000
    (found,) = interval.simulate(runs=histories, seed=5, rate=rate, eta=eta)
    assert within_margin(found.broken, histories, eta), found
    assert found.broken > histories * eta / 20, "an interval that never fails is wider than it need be"


def test_a_certified_mean_size_that_holds_is_contradicted_with_probability_at_most_eta() -> None:
    """Sizes of two kinds of inputs, each member with a promise of its own, both exactly kept."""
    (found,) = size_monitor.simulate(runs=2000, seed=11, eta=ETA)
    assert within_margin(found.broken, 2000, ETA), found
    assert MeanSupermartingale().update_many(np.full(500, 0.3), np.full(500, 0.2)).contradicted(1e-6)


def test_each_input_asked_five_times_at_exactly_alpha_raises_no_more_false_alarms_than_eta() -> None:
    """Its outcome is one event, however often it is reported; counted as five it alarms 30 times too often."""
    eta, few = 0.01, 200
    once = alarms("each input asked five times, counted once", 2000, 2500, eta, seed=7)
    every = alarms("each input asked five times, **every** question counted", few, 2500, eta, seed=7)
    assert within_margin(once, 2000, eta), f"{once} of 2000"
    assert every > 10 * eta * few, "which is why"


def test_a_named_case_counts_once_however_often_it_is_asked() -> None:
    eta = 0.01
    once = alarms("named cases, asked as often as they like, counted once", 2000, 2500, eta, seed=9)
    assert within_margin(once, 2000, eta), f"{once} of 2000"
    every = alarms("named cases, **every** question counted", 1000, 2500, eta, seed=9)
    assert not within_margin(every, 1000, eta), "which is why"


def test_where_inputs_repeat_honestly_every_question_counts_and_none_is_a_false_alarm_too_many() -> None:
    """310 possible inputs: frequent ones are rarely missed, rare ones often, and alpha of all of them."""
    missed = float(monitor.FEW_INPUTS @ monitor.FEW_RATES)
    assert missed == pytest.approx(monitor.ALPHA)
    eta, streams = 0.01, 1000
    every = alarms("310 possible inputs, every question counted", streams, 5000, eta, seed=8)
    once = alarms("310 possible inputs, counted **once** an input", streams, 5000, eta, seed=8)
    assert within_margin(every, streams, eta), f"{every} of {streams}"
    assert once > 0.9 * streams, "which is why inputs that repeat in calibration are not counted once"
