"""What revealed rows say about more of them: learning curves that flatten, and doubt that has to be overcome."""

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certiset.core.fit.families import Family
from certiset.core.fit.forecast import TYPICAL_FALL, Trial, best_way
from certiset.core.fit.model_defaults import TuningSchedule

SCHEDULE = TuningSchedule(steps=10, rate=0.1, batch=8)
NO_SCORER: Any = None
FAMILY = Family("head", NO_SCORER, (0.1,), SCHEDULE, SCHEDULE, learns_slowly=True)
GIVEN = Trial(None, 0.0, (0, 0), (0.0, 0.0), -0.3)

heights = st.floats(-3, 3)
counts = st.integers(2, 10**6)


def tuned(
    before: float, now: float, few: int = 60, more: int = 120, slope: float = -0.3, typical_fall: float = 0.0
) -> Trial:
    return Trial(FAMILY, 0.1, (few, more), (before, now), slope, typical_fall)


def test_groups_of_very_different_sizes_do_not_stop_a_forecast() -> None:
    """An eleventh of these rows is too few at alpha 0.01, but no group with a threshold has so few."""
    trials = [GIVEN, tuned(-0.5, -1.0, 400, 850)]
    assert best_way(trials, 850, 8500, 4250, alpha=0.01, delta=0.05, groups=11).trial in trials


@given(heights, heights, counts, counts)
def test_more_rows_are_never_expected_to_hurt_nor_to_help_without_end(
    before: float, now: float, few: int, rows: int
) -> None:
    trial = tuned(before, now, few, 2 * few)
    assert trial.at(rows) <= now
    assert trial.at(2 * rows) <= trial.at(rows)
    doublings = max(0.0, math.log2(rows / (2 * few)))
    assert trial.at(rows) >= now - 0.25 * doublings - 1e-9


@given(heights, heights, counts)
def test_fewer_rows_than_were_seen_say_what_was_seen(before: float, now: float, few: int) -> None:
    assert tuned(before, now, few, 2 * few).at(few) == now


@given(heights, st.floats(0, 1), counts)
def test_a_curve_that_rises_is_carried_on_flat(before: float, rise: float, rows: int) -> None:
    trial = tuned(before, before + rise)
    assert trial.at(rows) == trial.heights[1]


@given(st.floats(0.001, 0.25))
def test_a_curve_that_falls_goes_on_to_fall_less_steeply(fall: float) -> None:
    trial = tuned(0.0, -fall)
    assert -2 * fall < trial.at(240) < -fall


@given(heights, heights, st.integers(121, 10**6))
def test_what_was_seen_and_what_is_typical_count_alike(before: float, now: float, rows: int) -> None:
    flat, still_learns = (tuned(before, now, typical_fall=fall) for fall in (0.0, TYPICAL_FALL))
    difference = flat.at(rows) - still_learns.at(rows)
    assert difference == pytest.approx(TYPICAL_FALL / 2 * math.log2(rows / 120))
    as_typical = tuned(TYPICAL_FALL, 0.0, typical_fall=TYPICAL_FALL)
    assert as_typical.at(240) == pytest.approx(-TYPICAL_FALL)


@given(counts)
def test_the_model_as_given_does_not_learn(rows: int) -> None:
    assert GIVEN.at(rows) == 0.0
    assert GIVEN.name == "as given"


def test_a_later_look_is_carried_on_from_the_earlier_one() -> None:
    later = tuned(9.0, -0.2, 5, 250).after(tuned(0.1, -0.1, 60, 120, typical_fall=TYPICAL_FALL))
    assert (later.rows, later.heights, later.typical_fall) == ((120, 250), (-0.1, -0.2), TYPICAL_FALL)
    assert later.name == "head, pull 0.1"


@settings(max_examples=25)
@given(st.integers(40, 5000), st.floats(0.01, 0.5))
def test_alone_the_model_as_given_is_taken_at_once(revealed: int, alpha: float) -> None:
    way = best_way([GIVEN], revealed, 5 * revealed + 500, 3 * revealed, alpha=alpha, delta=0.05)
    assert way.trial is GIVEN
    assert not way.goes_on


def smallest_advantage(revealed: int, outputs: int) -> float:
    """By which a candidate must be better to be taken, in log size."""

    def is_taken(height: float) -> bool:
        trials = [GIVEN, tuned(height, height)]
        way = best_way(trials, revealed, 5 * revealed, None, alpha=0.1, delta=0.05, outputs=outputs)
        return way.trial is not GIVEN

    low, high = 0.0, 8.0
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (low, middle) if is_taken(-middle) else (middle, high)
    return high


@pytest.mark.parametrize("outputs", [1, 10, 100])
def test_a_candidate_must_be_better_and_the_fewer_rows_say_so_the_more(outputs: int) -> None:
    found = [smallest_advantage(revealed, outputs) for revealed in (40, 200, 1000)]
    assert found[0] > found[1] > found[2] > 0
    assert found[1] >= smallest_advantage(200, 1), "many labels share the rows"


@pytest.mark.parametrize("looks_again", [True, False])
def test_it_goes_on_where_the_curve_falls_and_stops_where_it_is_flat(looks_again: bool) -> None:
    for before, goes_on in ((-0.3, False), (-0.1, True)):
        trials = [GIVEN, tuned(before, -0.3, 67, 134)]
        way = best_way(trials, 200, 1000, 500, alpha=0.1, delta=0.05, looks_again=looks_again)
        assert way.trial is not GIVEN
        assert way.goes_on == goes_on


def test_what_is_worse_now_but_learns_quickly_is_worth_another_look_and_no_more() -> None:
    trials = [GIVEN, tuned(0.4, 0.15, 67, 134)]
    assert best_way(trials, 200, 1000, 500, alpha=0.1, delta=0.05, looks_again=True).goes_on
    assert best_way(trials, 200, 1000, 500, alpha=0.1, delta=0.05, looks_again=False).trial is GIVEN
    assert best_way(trials, 200, 1000, None, alpha=0.1, delta=0.05).trial is GIVEN


def test_a_head_that_is_free_to_move_is_worth_another_look_for_what_is_typical() -> None:
    for typical_fall, goes_on in ((0.0, False), (TYPICAL_FALL, True)):
        trials = [GIVEN, tuned(0.1, 0.05, 67, 134, typical_fall=typical_fall)]
        assert best_way(trials, 200, 1000, 500, alpha=0.1, delta=0.05, looks_again=True).goes_on == goes_on


def test_fewer_rows_to_calibrate_cost_more_where_sizes_depend_on_the_level() -> None:
    curve = tuned(0.0, -0.2, 67, 134, slope=-0.3)
    for slope, goes_on in ((-0.05, True), (-9.0, False)):
        way = best_way([replace(GIVEN, slope=slope), curve], 200, 1000, 500, alpha=0.1, delta=0.05)
        assert way.goes_on == goes_on


@given(st.floats(-9, 0), st.booleans())
def test_how_a_candidate_itself_depends_on_the_level_decides_nothing(slope: float, looks_again: bool) -> None:
    def way(of_candidate: float) -> tuple[bool, float]:
        trials = [GIVEN, tuned(0.1, -0.1, slope=of_candidate)]
        found = best_way(trials, 200, 1000, 500, alpha=0.1, delta=0.05, looks_again=looks_again)
        return found.goes_on, found.expected

    assert way(slope) == way(-0.3)


@settings(max_examples=25)
@given(st.lists(st.tuples(heights, heights), max_size=5), st.booleans())
def test_the_way_with_the_smallest_expected_size_is_taken(curves: list[tuple[float, float]], open_: bool) -> None:
    trials = [GIVEN, *(tuned(*curve) for curve in curves)]
    way = best_way(trials, 200, 1000, 500 if open_ else None, alpha=0.1, delta=0.05)
    assert way == best_way(trials, 200, 1000, 500 if open_ else None, alpha=0.1, delta=0.05)
    assert open_ or not way.goes_on
    assert way.expected <= best_way([GIVEN], 200, 1000, None, alpha=0.1, delta=0.05).expected
