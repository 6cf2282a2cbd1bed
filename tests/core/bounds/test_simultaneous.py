"""All alpha at once: golden values, the joint chance against exact ones, and levels that never promise too much."""

import math
import time
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import betaincc

from certiset.core.bounds import (
    BoundsError,
    TooFewPointsError,
    beta_tail,
    simultaneous_levels,
    simultaneous_rank,
    vovk_2b,
)
from certiset.core.bounds.crossing import crossing_probability
from certiset.core.bounds.domain import Floats, Ints
from tests.core.bounds.arrays import ints, reals


@pytest.mark.parametrize(
    ("n", "d", "first", "ranks"), [(200, 0.00590, 0.02534, [3, 10, 26]), (500, 0.00439, 0.01080, [13, 33, 77])]
)
def test_values_that_were_computed_elsewhere(n: int, d: float, first: float, ranks: list[int]) -> None:
    levels = simultaneous_levels(n, 0.05)
    assert levels.shape == (calibration_ranks(n, 0.3),)
    assert np.round(levels[0], 5) == first
    for k in (1, 2, 10, levels.size):
        assert beta_tail(n, k, levels[k - 1]) == pytest.approx(d, abs=5e-6), "every rank has the same chance"
    assert np.array_equal(simultaneous_rank(n, [0.05, 0.1, 0.2], 0.05), ranks)
    assert simultaneous_rank(n, 0.1, 0.05) == ranks[1]


def calibration_ranks(n: int, alpha_max: float) -> int:
    return math.floor(Fraction(str(alpha_max)) * (n + 1))


def exact_crossing(n: int, ranks: Ints, levels: Floats) -> Fraction:
    """By binomial increments in rational numbers: the number of uniforms up to each level, where none was crossed."""
    states, before, kept = {0: Fraction(1)}, Fraction(0), Fraction(1)
    for rank, level in zip(ranks.tolist(), map(Fraction, levels.tolist()), strict=True):
        p = (level - before) / (1 - before)
        after: dict[int, Fraction] = {}
        for j, mass in states.items():
            for i in range(n - j + 1):
                if j + i >= rank:
                    part = mass * math.comb(n - j, i) * p**i * (1 - p) ** (n - j - i)
                    after[j + i] = after.get(j + i, Fraction(0)) + part
        states, before = after, level
        kept = sum(states.values(), Fraction(0))
    return 1 - kept


@given(st.integers(2, 9), st.data())
@settings(max_examples=40, deadline=None)
def test_the_joint_chance_is_never_below_the_exact_one_nor_far_above(n: int, data: st.DataObject) -> None:
    ranks = sorted(data.draw(st.sets(st.integers(1, n), min_size=1, max_size=4)))
    levels = sorted(data.draw(st.lists(st.integers(1, 999), min_size=len(ranks), max_size=len(ranks), unique=True)))
    g, u = ints(ranks), reals(levels) / 1000
    exact = exact_crossing(n, g, u)
    found = crossing_probability(n, g, u, 1e-12 * float(exact))
    assert exact <= Fraction(found) or found == 1
    assert found <= float(exact) * (1 + 2e-6)


@pytest.mark.parametrize("n", [1, 2, 10, 300, 3000])
@pytest.mark.parametrize("c", [1.5, 20.0, 1e6])
def test_the_joint_chance_of_a_line_is_daniels(n: int, c: float) -> None:
    """P(U_(k) > 1 - (n+1-k) / (n c) for some k) = 1 / c, for every n (Daniels 1945): accurate however small."""
    ranks = np.arange(1, n + 1)
    found = crossing_probability(n, ranks, 1 - (n + 1 - ranks) / (n * c), 1e-10 / c)
    assert found * c == pytest.approx(1, abs=2e-6)
    assert found * c >= 1


def test_the_joint_chance_of_one_rank_is_its_tail() -> None:
    for n, k, level in ((50, 1, 0.1), (50, 50, 0.999), (10_000, 950, 0.1), (10**6, 99_000, 0.1), (10**7, 10**6, 0.1)):
        alone = float(betaincc(k, n + 1 - k, level))
        assert alone <= crossing_probability(n, ints([k]), reals([level]), 1e-9 * alone) <= alone * (1 + 1e-5)


def test_conditions_that_others_imply_cost_nothing() -> None:
    some = crossing_probability(20, ints([2, 5]), reals([0.3, 0.5]), 1e-12)
    assert crossing_probability(20, ints([1, 2, 5, 20]), reals([0.3, 0.3, 0.5, 1.0]), 1e-12) == pytest.approx(some)
    assert crossing_probability(20, ints([20]), reals([1.0]), 1e-12) == 1e-12
    assert crossing_probability(20, ints([1]), reals([0.0]), 1e-12) == 1


@pytest.mark.parametrize(
    ("n", "delta", "alpha_max"),
    [(2, 0.05, 0.9), (60, 0.05, 0.3), (60, 0.5, 0.99), (500, 1e-12, 0.3), (1000, 1e-100, 0.3), (4000, 0.2, 0.1)],
)
def test_levels_spend_delta_and_no_more(n: int, delta: float, alpha_max: float) -> None:
    levels = simultaneous_levels(n, delta, alpha_max)
    assert np.all(np.diff(levels) > 0)
    assert levels[0] > 0
    assert levels[-1] <= 1
    joint = crossing_probability(n, np.arange(1, levels.size + 1), levels, 1e-9 * delta)
    assert delta * (1 - 4e-6) <= joint <= delta


def test_two_ranks_of_two_points_have_a_joint_chance_that_can_be_written_down() -> None:
    """P(U_(1) <= a, U_(2) <= b) = b^2 - (b - a)^2."""
    a, b = simultaneous_levels(2, 0.05, 0.7)
    assert 0.95 <= b**2 - (b - a) ** 2 <= 0.95 + 2e-7


def test_a_hundred_thousand_samples_agree() -> None:
    rng, n, runs = np.random.default_rng(17), 100, 100_000
    levels = simultaneous_levels(n, 0.05)
    spaces = rng.standard_exponential((runs, n + 1))
    ordered = np.cumsum(spaces, axis=1)[:, : levels.size] / spaces.sum(axis=1, keepdims=True)
    crossed = float(np.mean(np.any(ordered > levels, axis=1)))
    assert abs(crossed - 0.05) <= 4 * math.sqrt(0.05 * 0.95 / runs)


@given(st.integers(20, 800), st.sampled_from([1e-6, 0.05, 0.5]), st.sampled_from([0.05, 0.3, 0.8]))
@settings(max_examples=20, deadline=None)
def test_the_rank_is_the_largest_whose_level_is_at_most_alpha_and_never_that_of_one_alpha(
    n: int, delta: float, alpha_max: float
) -> None:
    if (n + 1) * alpha_max < 1:
        return
    levels, alphas = simultaneous_levels(n, delta, alpha_max), np.linspace(0.005, 0.995, 199)
    ranks = np.asarray(simultaneous_rank(n, alphas, delta, alpha_max))
    for alpha, rank in zip(alphas, ranks.tolist(), strict=True):
        assert rank == np.count_nonzero(levels <= alpha)
        if rank:
            assert rank <= vovk_2b(n, alpha, delta)
    assert np.all(np.diff(ranks) >= 0)


def test_fewer_ranks_and_a_larger_delta_give_smaller_levels() -> None:
    wide, narrow, risky = (simultaneous_levels(300, *given) for given in ((0.05, 0.5), (0.05, 0.2), (0.1, 0.5)))
    assert np.all(narrow < wide[: narrow.size])
    assert np.all(risky < wide)


@pytest.mark.parametrize(("n", "loss"), [(20_000, 4), (2_000_000, 3000)])
def test_beyond_two_thousand_ranks_some_have_a_level_and_the_others_the_next(n: int, loss: int) -> None:
    """What that costs is a few ranks, or, where chances are added up, two standard deviations (420 ranks each)."""
    levels = simultaneous_levels(n, 0.05)
    assert levels.size == calibration_ranks(n, 0.3)
    own = np.append(np.flatnonzero(np.diff(levels) > 0), levels.size - 1)
    assert own.size <= 2000
    assert np.all(np.diff(levels) >= 0)
    joint = crossing_probability(n, own + 1, levels[own], 1e-9)
    assert 0.05 * (1 - 1e-5) <= joint <= 0.05
    if n == 20_000:  # every rank with a level of its own, computed once: 1878 at alpha = 0.1
        assert 1878 - loss <= int(simultaneous_rank(n, 0.1, 0.05)) <= 1878
    else:
        assert int(vovk_2b(n, 0.1, 0.05)) - loss <= int(simultaneous_rank(n, 0.1, 0.05)) <= int(vovk_2b(n, 0.1, 0.05))


def test_what_is_given_out_is_the_callers_own() -> None:
    simultaneous_levels(100, 0.05)[:] = 0
    assert simultaneous_levels(100, 0.05)[0] > 0


def test_a_few_hundred_points_are_quick() -> None:
    start = time.process_time()
    simultaneous_levels(501, 0.0501)
    assert time.process_time() - start < 0.5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, 0.05), "n must be at least 2"),
        ((2.5, 0.05), "n must be a whole number"),
        ((10**8, 0.05), "n must be at most 10,000,000"),
        (([100, 200], 0.05), "n must be one number"),
        ((100, 0.0), "delta must lie strictly"),
        ((100, math.nan), "delta must be a number"),
        ((100, 1e-101), "delta must be at least 1e-100"),
        ((100, [0.05, 0.1]), "delta must be one number"),
        ((100, 0.05, 1.0), "alpha_max must lie strictly"),
        ((100, 0.05, "all"), "alpha_max must be a number"),
        ((5, 0.05, 0.1), "at least 9 calibration points are needed"),
    ],
)
def test_arguments_outside_the_domain_are_named(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(BoundsError, match=message):
        simultaneous_levels(*arguments)
    n, *others = arguments
    with pytest.raises(BoundsError, match=message):
        simultaneous_rank(n, 0.1, *others)


def test_a_rank_needs_an_alpha_and_may_be_none() -> None:
    with pytest.raises(BoundsError, match="alpha must lie strictly"):
        simultaneous_rank(100, 0.0, 0.05)
    assert simultaneous_rank(100, 0.01, 0.05) == 0
    with pytest.raises(TooFewPointsError) as caught:
        simultaneous_levels(2, 0.05)
    assert caught.value.needed == 3
