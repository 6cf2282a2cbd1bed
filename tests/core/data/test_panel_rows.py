"""Rows that are equal but for one column, which says which visit or which day it was."""

import numpy as np
import pytest

from certiset.core.data.panel_rows import share_equal_but_one
from certiset.core.data.similar_rows import find_similar_rows


@pytest.mark.parametrize(("patients", "visits", "columns"), [(250, 4, 5), (250, 2, 2), (50, 40, 5)])
@pytest.mark.parametrize("place", [0, 1, -1])
def test_visits_of_a_patient_are_seen_whatever_their_number(
    patients: int, visits: int, columns: int, place: int
) -> None:
    rng = np.random.default_rng(0)
    known = np.repeat(rng.normal(size=(patients, columns)), visits, axis=0)
    visit = np.tile(np.arange(visits), patients)
    rows = np.insert(known, place % (columns + 1), visit, axis=1)[rng.permutation(len(known))]
    found = find_similar_rows(rows)
    assert found.distinct == len(rows)
    assert (found.equal, found.near) == (0, 1)


def test_the_share_of_such_rows_is_named() -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(1000, 6))
    rows[:100, 1:] = rows[100:200, 1:]
    assert share_equal_but_one(rows, rng) == pytest.approx(0.2)
    rows[:100, 2:] = rng.normal(size=(100, 4))
    assert share_equal_but_one(rows, rng) == 0


def test_a_mean_that_the_houses_of_a_street_share_is_honest() -> None:
    rng = np.random.default_rng(2)
    street = rng.integers(200, size=1000)
    rows = np.column_stack([rng.normal(size=200)[street], rng.integers(4, size=1000), rng.integers(5, size=1000)])
    assert share_equal_but_one(np.unique(rows, axis=0), rng) == 0
    lot = np.column_stack([rng.normal(size=(200, 2))[street], rng.normal(size=(1000, 2))])
    assert share_equal_but_one(lot, rng) == 0
