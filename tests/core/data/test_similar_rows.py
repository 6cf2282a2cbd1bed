"""Copies and near copies are seen; honest draws of every kind, equal rows among them, raise no suspicion."""

import numpy as np
import pytest

from benchmarks.evidence.promises.copies import HONEST, Make, images, letters
from certiset.core.data.similar_rows import find_similar_rows


@pytest.mark.parametrize("kind", HONEST)
@pytest.mark.parametrize("seed", range(3))
def test_independent_draws_are_not_suspicious(kind: str, seed: int) -> None:
    found = find_similar_rows(HONEST[kind](np.random.default_rng(seed)))
    assert (found.equal, found.near) == (0, 0)


@pytest.mark.parametrize("columns", [1, 2, 3, 10, 50])
@pytest.mark.parametrize("seed", range(3))
def test_four_nearly_equal_rows_of_each_patient_are_seen(columns: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = np.repeat(rng.normal(size=(250, columns)), 4, axis=0) + 1e-3 * rng.normal(size=(1000, columns))
    found = find_similar_rows(rows)
    assert found.distinct == 1000
    assert found.equal == 0
    assert found.near > (0.9 if columns > 1 else 0)


@pytest.mark.parametrize("times", [2, 5, 10])
@pytest.mark.parametrize("make", [lambda rng: rng.normal(size=(200, 2)), lambda rng: letters(rng, 200), images])
def test_rows_that_were_copied_are_seen_whatever_they_hold(times: int, make: Make) -> None:
    rows = np.repeat(make(np.random.default_rng(0)), times, axis=0)
    found = find_similar_rows(rows)
    assert found.distinct == len(rows) // times
    assert found.equal == 1


def test_some_copies_are_seen_with_their_share() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(900, 3))
    assert find_similar_rows(np.concatenate([rows, rows[:100]])).equal == pytest.approx(0.2)
    near = find_similar_rows(np.concatenate([rows, rows[:100] + 1e-3 * rng.normal(size=(100, 3))])).near
    assert near == pytest.approx(0.2, abs=0.05)


def test_rows_drawn_with_replacement_from_continuous_ones_are_seen() -> None:
    rng = np.random.default_rng(0)
    assert find_similar_rows(rng.normal(size=(500, 3))[rng.integers(500, size=500)]).equal > 0.5
