"""Copies and near copies are seen; honest draws of every kind, equal rows among them, raise no suspicion."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from certiset.core.data.similar_rows import equal_row_codes, find_similar_rows

Make = Callable[[np.random.Generator], NDArray[Any]]


def letters(rng: np.random.Generator, rows: int = 1000) -> NDArray[Any]:
    """16 whole numbers from 0 to 15 that depend on a class, as in tables of letters: some rows come up twice."""
    means = np.random.default_rng(1).integers(3, 12, size=(26, 16))
    return np.clip(np.round(means[rng.integers(26, size=rows)] + 0.5 * rng.normal(size=(rows, 16))), 0, 15)


def images(rng: np.random.Generator) -> NDArray[Any]:
    """Mostly black, in 256 shades, like handwritten digits."""
    return np.where(rng.random((300, 1, 28, 28)) < 0.2, rng.integers(256, size=(300, 1, 28, 28)), 0).astype(np.uint8)


HONEST: dict[str, Make] = {
    "one column": lambda rng: rng.normal(size=(1000, 1)),
    "five columns": lambda rng: rng.normal(size=(1000, 5)),
    "many columns": lambda rng: rng.normal(size=(500, 100)).astype(np.float32),
    "few rows": lambda rng: rng.normal(size=(60, 3)),
    "heavy tails": lambda rng: rng.standard_cauchy((1000, 3)),
    "tight classes": lambda rng: np.eye(10)[rng.integers(10, size=1000)] + 0.01 * rng.normal(size=(1000, 10)),
    "letters": letters,
    "images": images,
    "few categories": lambda rng: np.stack([rng.integers(k, size=1000) for k in (2, 3, 5)], 1),
    "binary columns": lambda rng: rng.integers(2, size=(1000, 8)),
    "rare categories": lambda rng: np.minimum(rng.geometric(0.4, size=(1000, 4)), 8),
    "one category": lambda rng: rng.integers(100, size=(1000, 1)),
    "rounded numbers": lambda rng: np.round(rng.normal(37, 1, size=(1000, 1)), 1),
    "rounded rows": lambda rng: np.round(rng.normal(3, 0.5, size=(150, 4)), 1),
    "categories and a number": lambda rng: np.column_stack([rng.integers(2, size=(500, 6)), rng.normal(size=500)]),
    "rainfall": lambda rng: np.column_stack(
        [rng.integers(3, size=(1000, 2)), np.where(rng.random(1000) < 0.7, 0, rng.exponential(size=1000))]
    ),
    "rainfall alone": lambda rng: np.where(rng.random((1000, 1)) < 0.7, 0, rng.exponential(size=(1000, 1))),
    "constant columns": lambda rng: np.column_stack([np.ones((200, 2)), rng.normal(size=200)]),
}


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


def test_equal_rows_have_equal_codes_whatever_their_type_and_the_sign_of_zero() -> None:
    rows = np.array([[0.0, 1.5], [-0.0, 1.5], [0.0, 2.5]], dtype=np.float32)
    codes = equal_row_codes(rows)
    assert codes[0] == codes[1] != codes[2]
    assert np.array_equal(codes, equal_row_codes(rows.astype(np.float64)))
    assert np.array_equal(codes, equal_row_codes(rows.reshape(3, 2, 1)))
    assert equal_row_codes(np.array([[1, 2]])) == equal_row_codes(np.array([[1.0, 2.0]]))
