"""The capital is the product it claims to be, however it is fed."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certiset.core.bounds import BoundsError, Supermartingale

outcomes = st.lists(st.booleans(), max_size=200)
alphas = st.floats(1e-6, 0.5)


def capital_by_definition(alpha: float, stakes: tuple[float, ...], missed: list[bool]) -> float:
    capitals = [math.prod(1 + stake / alpha * (z - alpha) for z in missed) for stake in stakes]
    return sum(capitals) / len(capitals)


@given(alphas, st.lists(st.booleans(), max_size=30))
def test_capital_is_the_mean_of_the_products(alpha: float, missed: list[bool]) -> None:
    process = Supermartingale(alpha).update_many(missed)
    expected = capital_by_definition(alpha, process.stakes, missed)
    assert math.exp(process.log_capital) == pytest.approx(expected, rel=1e-9)


@given(alphas, outcomes, st.integers(0, 200))
def test_one_at_a_time_or_many_makes_no_difference(alpha: float, missed: list[bool], cut: int) -> None:
    together = Supermartingale(alpha).update_many(missed)
    parts = Supermartingale(alpha).update_many(missed[:cut]).update_many(missed[cut:])
    one_by_one = Supermartingale(alpha)
    for outcome in missed:
        one_by_one = one_by_one.update(outcome)
    for other in (parts, one_by_one):
        assert (other.outcomes, other.misses) == (together.outcomes, together.misses) == (len(missed), sum(missed))
        assert other.log_capital == pytest.approx(together.log_capital, abs=1e-9)
        assert other.log_peak == pytest.approx(together.log_peak, abs=1e-9)


def test_each_step_has_mean_one_when_the_promise_holds_exactly() -> None:
    process = Supermartingale(0.1).update_many([0, 1, 0, 0])
    missed, covered = process.update(1), process.update(0)
    mean = 0.1 * math.exp(missed.log_capital) + 0.9 * math.exp(covered.log_capital)
    assert mean == pytest.approx(math.exp(process.log_capital), rel=1e-12)


def test_a_contradiction_is_remembered_after_the_capital_falls_again() -> None:
    process = Supermartingale(0.1).update_many([1] * 10)
    assert process.contradicted(0.01)
    later = process.update_many([0] * 10_000)
    assert later.log_capital < 0
    assert later.contradicted(0.01)
    assert not Supermartingale(0.1).update_many([0] * 100).contradicted(0.01)


def test_a_broken_promise_is_noticed() -> None:
    missed = np.random.default_rng(0).random(3000) < 0.15
    assert Supermartingale(0.1).update_many(missed).contradicted(0.01)


def test_the_path_is_the_capital_after_each_outcome() -> None:
    start = Supermartingale(0.1).update_many([0, 1])
    path = start.path([1, 0, 1])
    state, by_hand = start, []
    for outcome in (1, 0, 1):
        state = state.update(outcome)
        by_hand.append(state.log_capital)
    assert path == pytest.approx(by_hand)
    assert start.update_many([]) == start


def test_a_generator_counts_like_a_list() -> None:
    assert Supermartingale(0.1).update_many(z == 1 for z in [1, 0, 1]) == Supermartingale(0.1).update_many([1, 0, 1])


def test_a_state_restored_from_its_counts_remembers_what_they_imply() -> None:
    assert Supermartingale(0.1, outcomes=10, misses=10).contradicted(0.05)


@pytest.mark.parametrize("bad", [True, None, 0.5])
def test_outcomes_are_a_list(bad: object) -> None:
    with pytest.raises(BoundsError, match="must be a list"):
        Supermartingale(0.1).update_many(bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [[2], [0.5], [math.nan], [[0, 1]], ["yes"]])
def test_outcomes_are_zeros_and_ones(bad: list[object]) -> None:
    with pytest.raises(BoundsError):
        Supermartingale(0.1).update_many(bad)  # type: ignore[arg-type]
