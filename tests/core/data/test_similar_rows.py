"""Copies and near copies are seen; honest draws of every kind, equal rows among them, raise no suspicion."""

import numpy as np
import pytest

from benchmarks.evidence.promises.copies import (
    HONEST,
    HONEST_WITH_TRUTHS,
    Make,
    census,
    goods_with_truths,
    honest,
    images,
    letters,
)
from certiset.core.data.similar_rows import find_similar_rows


@pytest.mark.parametrize("kind", [*HONEST, *HONEST_WITH_TRUTHS])
@pytest.mark.parametrize("seed", range(3))
def test_independent_draws_are_not_suspicious(kind: str, seed: int) -> None:
    found = find_similar_rows(*honest(kind, np.random.default_rng(seed)))
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


@pytest.mark.parametrize(("make", "share"), [(images, 0.06), (census, 0.04)], ids=["images", "census"])
def test_a_few_copies_of_whole_numbers_are_seen_by_their_having_no_relatives(make: Make, share: float) -> None:
    rows = make(np.random.default_rng(0))
    few = rows[: int(share * len(rows))]
    assert find_similar_rows(np.concatenate([rows, few])).equal == pytest.approx(2 * share / (1 + share), abs=0.01)


def test_a_few_copies_among_whole_numbers_are_seen_by_a_truth_that_is_a_number() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.integers(6, size=(1000, 3)), rng.normal(size=1000)
    assert find_similar_rows(x, y).equal == 0
    again = np.concatenate([np.arange(1000), np.arange(15)])
    assert find_similar_rows(x[again], y[again]).equal == pytest.approx(30 / 1015)


def test_equal_inputs_with_truths_of_their_own_are_no_copies() -> None:
    x, y = goods_with_truths(np.random.default_rng(0))
    assert find_similar_rows(x, y).equal == 0
    assert find_similar_rows(x, x[:, 0] > 50).equal > 0, "without noise in the truths they cannot be told from copies"


def test_rows_drawn_with_replacement_from_continuous_ones_are_seen() -> None:
    rng = np.random.default_rng(0)
    assert find_similar_rows(rng.normal(size=(500, 3))[rng.integers(500, size=500)]).equal > 0.5
