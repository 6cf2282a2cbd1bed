"""Rows are recognised over re-uploads, in any order and precision; others are not, and few categories are no rows."""

import numpy as np
import pytest
from numpy.typing import NDArray

from certiset.core.data.row_sketch import KEPT, RowSketch

KEY = b"k" * 32


def rows(count: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    random = np.random.default_rng(seed)
    return random.normal(size=(count, 3)), random.normal(size=count)


def sketch(x: NDArray[np.float64], y: NDArray[np.float64]) -> RowSketch:
    return RowSketch.of(KEY, x, y)


@pytest.mark.parametrize("count", [500, 3 * KEPT])
def test_a_part_of_the_rows_in_another_order_is_recognised_and_fresh_rows_are_not(count: int) -> None:
    x, y = rows(count, 0)
    original, order = sketch(x, y), np.random.default_rng(1).permutation(count)
    again = sketch(x[order].astype(np.float32), y[order])
    assert (again.total, again.hashes) == (original.total, original.hashes)
    assert original.shares_rows_with(again)
    assert len(original.hashes) == 8 * min(count, KEPT)
    fresh_x, fresh_y = rows(count, 2)
    assert not original.shares_rows_with(sketch(fresh_x, fresh_y))
    for share, shared in ((0.02, True), (0.001, False)):
        kept = round(share * count)
        mixed = sketch(np.concatenate([x[:kept], fresh_x[kept:]]), np.concatenate([y[:kept], fresh_y[kept:]]))
        assert mixed.shares_rows_with(original) is original.shares_rows_with(mixed) is shared
    small = sketch(x[:400], y[:400])
    assert small.shares_rows_with(original), "all of a small one within a large one"


def test_one_per_cent_of_large_data_is_found_nearly_always() -> None:
    """By the hashes alone, which are as good as uniform: overlooked with probability 0.0002."""
    random = np.random.default_rng(0)

    def of(hashes: NDArray[np.uint64]) -> RowSketch:
        return RowSketch(len(hashes), len(hashes), f"{int(hashes.sum()):x}", np.unique(hashes)[:KEPT].tobytes())

    for _ in range(10):
        first, second = random.integers(2**64, size=(2, 100_000), dtype=np.uint64)
        assert not of(first).shares_rows_with(of(second))
        second[:1000] = first[:1000]
        assert of(first).shares_rows_with(of(second))


def test_rows_of_few_categories_are_recognised_only_as_a_whole() -> None:
    """310 possible rows come again in fresh data, and are no attempt on the same rows."""
    random = np.random.default_rng(0)
    first, second = (random.integers(310, size=(2000, 1)).astype(float) for _ in range(2))
    y = np.zeros(2000)
    assert not sketch(first, y).shares_rows_with(sketch(second, y))
    assert sketch(first, y).shares_rows_with(sketch(first[::-1], y))


def test_a_sketch_travels_as_json() -> None:
    made = sketch(*rows(50, 0))
    assert RowSketch.from_json(made.to_json()) == made
