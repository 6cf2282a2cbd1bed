"""Means of sizes by betting: golden values, never below the exact bound, and kept as often as promised."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from certiset.core.bounds import BoundsError, SizeCounts, efficiency_bound, grid_betting, mean_upper_bound
from certiset.core.bounds.efficiency.betting import FRACTIONS

SHARES = np.array([75, 17, 5, 2, 1])
"""per cent of sets with 1 to 5 labels out of 10: 1.37 in the mean"""


@pytest.mark.parametrize(
    ("rows", "alone", "on_a_grid"), [(500, 1.50, 1.58), (1000, 1.46, 1.50), (2500, 1.42, 1.44), (10_000, 1.39, None)]
)
def test_bounds_that_were_computed_elsewhere(rows: int, alone: float, on_a_grid: float | None) -> None:
    labels = SizeCounts.of_labels(np.repeat([1, 2, 3, 4, 5], SHARES * rows // 100), 10)
    assert labels.rows == rows
    assert 10 * labels.mean == pytest.approx(1.37)
    assert 10 * labels.upper_bound(0.05) == pytest.approx(alone, abs=0.01)
    if on_a_grid is not None:
        assert 10 * labels.grid_upper_bound(0.05, 64) == pytest.approx(on_a_grid, abs=0.01)
        assert labels.grid_upper_bound(0.05, 64) < float(
            efficiency_bound(labels.mean, rows, 0.05, 0.0, "grid_kl", grid_size=64)
        )


def test_fractions_are_those_of_the_statement() -> None:
    assert FRACTIONS.size == 32
    assert FRACTIONS[0] == 0.005
    assert FRACTIONS[-1] == pytest.approx(0.98, rel=1e-15)
    assert np.allclose(FRACTIONS[1:] / FRACTIONS[:-1], 196 ** (1 / 31), rtol=1e-14)
    assert FRACTIONS.max() < 1


small_counts = st.lists(st.tuples(st.integers(0, 12), st.integers(1, 3000)), min_size=1, max_size=6)


@given(small_counts, st.sampled_from([1e-12, 0.001, 0.05, 0.5]), st.integers(1, 64))
@settings(max_examples=60, deadline=None)
def test_the_bound_is_never_below_the_exact_one_nor_far_above(
    pairs: list[tuple[int, int]], gamma: float, grid_size: int
) -> None:
    counts = dict(pairs)
    values = [level / 12 for level in counts]
    found = grid_betting(values, gamma, grid_size, counts=list(counts.values()))
    nats = mp.log(grid_size) - mp.log(mpf(gamma))
    if found == 1:
        assert exact_log_capital(counts, mpf(1) - mpf(10) ** -9) <= nats + 1e-6
        return
    # W grows: the exact bound is where it reaches its goal, so it lies below `found` if W has reached it there.
    assert exact_log_capital(counts, mpf(found)) >= nats
    slightly_less = mpf(found) - (1 - mpf(found)) * mpf(10) ** -9 - mpf(10) ** -12
    if slightly_less > 0:
        assert exact_log_capital(counts, slightly_less) < nats


def exact_log_capital(counts: dict[int, int], m: mpf) -> mpf:
    """With levels out of 12, in 40 digits."""
    with mp.workdps(40):
        capitals = [
            mp.fprod((1 - mpf(float(f)) * (mpf(level) / 12 - m) / (1 - m)) ** often for level, often in counts.items())
            for f in FRACTIONS
        ]
        return mp.log(mp.fsum(capitals) / len(capitals))


def test_the_bound_of_two_values_agrees_with_fractions() -> None:
    """A root that can be checked with whole numbers alone: capital at the bound is at least 1 / gamma = 20."""
    found = mean_upper_bound([0.0, 0.5, 0.0, 0.25], 0.05)
    m = Fraction(found)
    capitals = [
        math.prod(1 - Fraction(float(f)) * (e - m) / (1 - m) for e in (Fraction(0), Fraction(1, 2), 0, Fraction(1, 4)))
        for f in FRACTIONS
    ]
    assert sum(capitals) / len(capitals) >= 20


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40), st.sampled_from([0.01, 0.05, 0.3]))
@settings(max_examples=60, deadline=None)
def test_the_bound_lies_above_the_mean_is_free_of_order_and_grows_with_each_value(
    values: list[float], gamma: float
) -> None:
    bound = mean_upper_bound(values, gamma)
    assert np.mean(values) - 1e-12 <= bound <= 1
    assert mean_upper_bound(values[::-1], gamma) == bound
    assert mean_upper_bound([*values[1:], 1.0], gamma) >= bound - 1e-9
    assert mean_upper_bound(values, gamma / 2) >= bound - 1e-9


def test_counts_and_values_say_the_same() -> None:
    values = np.random.default_rng(3).integers(0, 11, 700) / 10
    levels, counts = np.unique(values, return_counts=True)
    assert mean_upper_bound(values, 0.05) == mean_upper_bound(levels, 0.05, counts=counts)
    assert grid_betting(values, 0.05, 1) == mean_upper_bound(values, 0.05)
    per_draw = grid_betting(values, 0.05, 8, draws=4, log_ratio=math.log(2.0))
    assert per_draw == pytest.approx(mean_upper_bound(values, 0.05 / 64), rel=1e-12)


def test_the_ends() -> None:
    assert mean_upper_bound([1.0, 1.0], 0.05) == 1.0
    # One zero: (1 - f + f / (1 - m)) / 32 summed over f is 20.
    assert mean_upper_bound([0.0], 0.05) == pytest.approx(1 - 1 / (1 + 19 / FRACTIONS.mean()), rel=1e-12)
    assert mean_upper_bound(np.zeros(10**6), 0.05) == pytest.approx(math.log(32 * 20) / 0.98e6, rel=0.15)
    assert mean_upper_bound([0, 1], 1e-9, counts=[10**9, 1]) < 1e-6


@pytest.mark.parametrize(
    "shares", [SHARES / 100, np.array([0.0, 0.999, 0.0, 0.0, 0.001]), np.array([0.5, 0, 0, 0, 0.5])]
)
@pytest.mark.parametrize("rows", [20, 300])
def test_the_bound_fails_no_more_often_than_gamma(shares: np.ndarray, rows: int) -> None:
    rng = np.random.default_rng(4)
    levels, trials, gamma = np.arange(1, 6) / 5, 600, 0.1
    mean = float(levels @ shares)
    samples = rng.multinomial(rows, shares, trials)
    failures = sum(mean_upper_bound(levels, gamma, counts=counts) < mean for counts in samples)
    assert failures <= trials * gamma + 3 * math.sqrt(trials * gamma * (1 - gamma))


def test_a_threshold_chosen_by_the_rows_needs_the_grid_and_keeps_its_promise_with_it() -> None:
    """An adversary takes the grid point whose bound looks best, relative to its own mean."""
    rng = np.random.default_rng(5)
    trials, gamma, rows, points = 2000, 0.2, 40, 120
    means = np.linspace(0.1, 0.6, points)
    hits = rng.binomial(rows, means, (trials, points))  # sizes 0 or 1, independent from point to point
    every = range(rows + 1)
    bounds = {g: np.array([grid_betting([0, 1], gamma, g, counts=[rows - h, h]) for h in every]) for g in (1, points)}
    with_union, alone = (np.any(bounds[g][hits] < means, axis=1).sum() for g in (points, 1))
    assert with_union <= trials * gamma + 3 * math.sqrt(trials * gamma * (1 - gamma))
    assert alone > trials * gamma + 3 * math.sqrt(trials * gamma * (1 - gamma))


def test_sizes_are_counted_in_steps_and_rounded_up() -> None:
    labels = SizeCounts.of_labels([0, 2, 2, 10], 10)
    assert (labels.steps, labels.levels, labels.counts) == (10, (0, 2, 10), (1, 2, 1))
    pool = SizeCounts.of_mean_labels([1.5, 4 / 3, 1.0, (0.1 + 0.2) * 10], 10)
    assert (pool.steps, pool.levels) == (10_240, (1024, 1366, 1536, 3072))
    widths = SizeCounts.of_capped([0.0, 1e-12, 0.5, 1.0, 7.0, math.inf], 2.0)
    assert (widths.steps, widths.levels, widths.counts) == (1024, (0, 1, 256, 512, 1024), (1, 1, 1, 1, 2))


@given(st.lists(st.floats(0, 100), min_size=1, max_size=50), st.floats(0.1, 50))
@settings(deadline=None)
def test_counted_efficiencies_are_never_below_the_real_ones(widths: list[float], cap: float) -> None:
    counts = SizeCounts.of_capped(widths, cap)
    real = np.minimum(np.array(widths) / cap, 1)
    assert counts.rows == len(widths)
    assert real.mean() - 1e-9 <= counts.mean <= real.mean() + 1 / 1024
    again = SizeCounts.from_json(counts.steps, counts.to_json())
    assert again == counts
    assert again.upper_bound(0.05) == counts.upper_bound(0.05) >= mean_upper_bound(real, 0.05) - 1e-9


@pytest.mark.parametrize(
    ("steps", "pairs"),
    [
        (10, [[1, 0]]),
        (10, [[2, 1], [1, 1]]),
        (10, [[11, 1]]),
        (10, [[-1, 1]]),
        (10, [[1, 1, 1]]),
        (10, []),
        (0, [[0, 1]]),
        (10, [[1.5, 1]]),
        (10, [[1, True]]),
        (10, [["1", 1]]),
        (10, [[1, 2**60]]),
    ],
)
def test_counts_that_nobody_can_have_counted_are_refused(steps: int, pairs: Any) -> None:
    with pytest.raises(BoundsError):
        SizeCounts.from_json(steps, pairs)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mean_upper_bound([], 0.05), "non-empty"),
        (lambda: mean_upper_bound([1.2], 0.05), "values must lie between 0 and 1"),
        (lambda: mean_upper_bound([math.nan], 0.05), "values must be a number"),
        (lambda: mean_upper_bound([0.5], 0.0), "gamma must lie strictly"),
        (lambda: mean_upper_bound([0.5], [0.1, 0.2]), "gamma must be one number"),  # type: ignore[arg-type]
        (lambda: mean_upper_bound([0.5], 0.05, counts=[1, 2]), "one per value"),
        (lambda: mean_upper_bound([0.5], 0.05, counts=[0]), "not all be 0"),
        (lambda: mean_upper_bound([0.5], 0.05, counts=[-1]), "counts must be at least 0"),
        (lambda: grid_betting([0.5], 0.05, 0), "grid_size must be at least 1"),
        (lambda: grid_betting([0.5], 0.05, 4, log_ratio=math.inf), "log_ratio must be finite"),
        (lambda: SizeCounts.of_labels([11], 10), "beyond the largest"),
        (lambda: SizeCounts.of_labels([], 10), "non-empty"),
        (lambda: SizeCounts.of_capped([1.0], 0.0), "cap must be positive"),
        (lambda: SizeCounts.of_capped([math.nan], 1.0), "must be a number"),
        (lambda: SizeCounts.of_capped([-1.0], 1.0), "not negative"),
    ],
)
def test_arguments_outside_the_domain_are_named(call: Any, message: str) -> None:
    with pytest.raises(BoundsError, match=message):
        call()
