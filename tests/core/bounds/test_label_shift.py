"""Rows whose classes are as frequent as in the target: how many, which ones, and what if a class runs out."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from certiset.core.bounds import BoundsError, ExhaustedClassError, label_shift_draws, label_shift_rows


def run_out(m: int, counts: list[int], prevalences: list[float]) -> float:
    """P(some class is drawn more often than it has rows), exactly: class after class, by the draws that are left."""
    left, share = {m: 1.0}, 1.0
    for n, pi in zip(counts, prevalences, strict=True):
        after: dict[int, float] = {}
        for draws, mass in left.items():
            for asked, chance in enumerate(binom.pmf(np.arange(min(n, draws) + 1), draws, min(pi / share, 1.0))):
                after[draws - asked] = after.get(draws - asked, 0.0) + mass * float(chance)
        left, share = after, max(share - pi, 1e-300)
    return 1 - left.get(0, 0.0)


mixtures = st.lists(st.tuples(st.integers(0, 40), st.integers(1, 20)), min_size=1, max_size=4)


@given(mixtures, st.sampled_from([0.001, 0.01, 0.1]))
@settings(max_examples=60, deadline=None)
def test_the_number_of_draws_keeps_epsilon_and_is_nearly_the_largest_that_does(
    classes: list[tuple[int, int]], epsilon: float
) -> None:
    counts, parts = [n for n, _ in classes], [part for _, part in classes]
    prevalences = [part / sum(parts) for part in parts]
    m = label_shift_draws(counts, prevalences, epsilon)
    assert run_out(m, counts, prevalences) <= epsilon * (1 + 1e-6) + 1e-12
    union = sum(float(binom.sf(n, m + 1, pi)) for n, pi in zip(counts, prevalences, strict=True))
    assert union > epsilon * (1 - 1e-6), "by the union bound no more draws keep it"
    assert run_out(m + 1, counts, prevalences) >= union - union**2 / 2 - 1e-12, "and the union bound is nearly exact"


def test_numbers_of_draws_that_can_be_checked_by_hand() -> None:
    assert label_shift_draws([7, 100], [1.0, 0.0], 0.01) == 7
    assert label_shift_draws([100], [1.0], 0.5) == 100
    assert label_shift_draws([0, 50], [0.0, 1.0], 0.01) == 50, "a class that is never drawn needs no rows"
    assert label_shift_draws([0, 50], [0.2, 0.8], 0.01) == 0
    assert label_shift_draws([0, 50], [0.005, 0.995], 0.01) == 2, "1 - 0.995^2 = 0.009975"
    # P(Binomial(m, 1/2) > 1) = 1 - (m + 1) / 2^m is 1/4 for m = 2; for both classes it is 1/2, and 1 for m = 3.
    assert label_shift_draws([1, 1], [0.5, 0.5], 0.49) == 1
    assert label_shift_draws([1, 1], [0.5, 0.5], 0.51) == 2


@given(st.integers(0, 2**32), st.lists(st.integers(0, 60), min_size=2, max_size=5))
@settings(max_examples=60, deadline=None)
def test_every_row_is_taken_once_at_most_and_has_the_label_that_was_drawn(seed: int, counts: list[int]) -> None:
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    prevalences = rng.dirichlet(np.ones(len(counts)))
    try:
        rows = label_shift_rows(labels, prevalences, np.random.default_rng(seed + 1), 0.1)
    except ExhaustedClassError:
        return
    assert rows.size == label_shift_draws(counts, prevalences, 0.1)
    assert np.unique(rows).size == rows.size
    drawn = np.searchsorted(np.cumsum(prevalences), np.random.default_rng(seed + 1).random(rows.size), side="right")
    assert np.array_equal(labels[rows], drawn)
    again = label_shift_rows(labels, prevalences, np.random.default_rng(seed + 1), 0.1)
    assert np.array_equal(rows, again), "the same generator draws the same rows"


def test_rows_of_a_class_are_equally_likely_even_where_they_were_sorted() -> None:
    labels, rng, taken = np.repeat([0, 1], [30, 60]), np.random.default_rng(3), np.zeros(90)
    for _ in range(1500):
        try:
            taken[label_shift_rows(labels, [0.5, 0.5], rng, 0.2)] += 1
        except ExhaustedClassError:
            continue
    for label in (0, 1):
        ones = taken[labels == label]
        assert np.all(np.abs(ones - ones.mean()) < 5 * math.sqrt(ones.mean()))


def test_a_class_runs_out_as_rarely_as_it_may_and_then_nothing_is_given() -> None:
    labels, prevalences, epsilon, tries = np.repeat([0, 1, 2], [20, 30, 200]), [0.3, 0.3, 0.4], 0.05, 2000
    m, failed = label_shift_draws([20, 30, 200], prevalences, epsilon), 0
    for seed in range(tries):
        try:
            label_shift_rows(labels, prevalences, np.random.default_rng(seed), epsilon)
        except ExhaustedClassError:
            failed += 1
    expected = run_out(m, [20, 30, 200], prevalences)
    assert expected <= epsilon
    assert abs(failed - tries * expected) < 4 * math.sqrt(tries * expected)


def test_a_class_that_ran_out_is_named() -> None:
    class Only(np.random.Generator):
        """Draws the first class every time."""

        def random(self, size: Any = None, *args: Any, **options: Any) -> Any:
            return np.zeros(size)

    with pytest.raises(
        ExhaustedClassError, match=r"Class 0 was drawn \d+ times and has 20 rows.*no certificate"
    ) as caught:
        label_shift_rows(np.repeat([0, 1], [20, 200]), [0.3, 0.7], Only(np.random.PCG64(0)))
    assert caught.value.code == "class_exhausted"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([10, 10], [0.5, 0.4]), "add up to 1, and these add up to 0.9"),
        (([10, 10], [1.5, -0.5]), "prevalences must not be negative"),
        (([10, 10], [0.5, math.nan]), "prevalences must be a number"),
        (([10, 10], [0.5, math.inf]), "prevalences must be finite"),
        (([10, 10], [1.0]), "one per class"),
        (([], []), "prevalences must be a list"),
        (([10, 10], 0.5), "prevalences must be a list"),
        (([10, -1], [0.5, 0.5]), "counts must be at least 0"),
        (([10, 1.5], [0.5, 0.5]), "counts must be a whole number"),
        (([10, 10], [0.5, 0.5], 0.0), "epsilon must lie strictly"),
        (([10, 10], [0.5, 0.5], [0.1, 0.1]), "epsilon must be one number"),
    ],
)
def test_arguments_outside_the_domain_are_named(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(BoundsError, match=message):
        label_shift_draws(*arguments)


@pytest.mark.parametrize("labels", [[0, 2], [[0, 1]], [0, -1], [0, 0.5], ["cat"], 1])
def test_labels_that_no_class_has_are_refused(labels: Any) -> None:
    with pytest.raises(BoundsError, match="labels must be"):
        label_shift_rows(labels, [0.5, 0.5], np.random.default_rng(0))
