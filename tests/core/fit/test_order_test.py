"""The test of the rows' order: conservative where rows are independent, and quick to see what is not."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.evidence.promises.margin import most_broken
from benchmarks.evidence.promises.order import p_values
from certiset.core.certificate.data_checks import ORDER_LEVEL
from certiset.core.fit.order_test import order_p_value

Floats = NDArray[Any]
ROWS = 600
TIME = np.arange(ROWS) / ROWS


@pytest.mark.parametrize("rows", [30, 200])
@pytest.mark.parametrize("kinds", [None, 3], ids=["continuous", "ties"])
def test_independent_rows_have_a_small_p_value_no_more_often_than_it_says(rows: int, kinds: int | None) -> None:
    trials = 2000
    found = p_values(trials, rows, rows, kinds)
    for level in (0.01, 0.1):
        assert (found < level).sum() <= most_broken(trials, level)


SEEN: dict[str, Callable[[np.random.Generator], tuple[Floats, Floats]]] = {
    "noise that grows": lambda rng: (np.abs(rng.normal(size=ROWS) * (0.5 + TIME)), rng.normal(size=ROWS)),
    "a level that shifts": lambda rng: (rng.normal(size=ROWS) + (TIME > 0.8), rng.normal(size=ROWS)),
    "sorted labels": lambda rng: (rng.normal(size=ROWS), np.sort(rng.integers(3, size=ROWS)).astype(float)),
    "two labels in turn": lambda rng: (rng.normal(size=ROWS), np.arange(ROWS) % 2.0),
    "neighbours that are alike": lambda rng: (np.repeat(rng.normal(size=ROWS // 2), 2), rng.normal(size=ROWS)),
}


@pytest.mark.parametrize("kind", SEEN)
def test_what_is_not_independent_is_seen(kind: str) -> None:
    rng = np.random.default_rng(0)
    assert all(order_p_value(*SEEN[kind](rng)) < ORDER_LEVEL for _ in range(20))
