"""Rows served alone, sorted, and in the company of outliers."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray


def companies(rows: NDArray[Any], seed: int = 0) -> Iterator[tuple[NDArray[Any], NDArray[np.int64]]]:
    """Batches that contain rows, and which row of the original each entry of the batch is; -1 for strangers."""
    generator = np.random.default_rng(seed)
    count = len(rows)
    for row in range(count):
        yield rows[row : row + 1], np.array([row])
    order = np.argsort(rows.reshape(count, -1)[:, 0])
    yield rows[order], order
    yield rows[::-1], np.arange(count)[::-1]
    outliers = 50 + 100 * generator.standard_normal(rows[:2].shape)
    yield np.concatenate([outliers.astype(rows.dtype), rows]), np.concatenate([[-1, -1], np.arange(count)])
    yield rows[: count - 1], np.arange(count - 1)


def differs(function: Callable[[NDArray[Any]], NDArray[Any]], rows: NDArray[Any]) -> float:
    """How much an output of a row depends on its company, relative to its size."""
    together = function(rows)
    most = 0.0
    for batch, which in companies(rows):
        found = function(batch)[which >= 0]
        expected = together[which[which >= 0]]
        gap = np.abs(found.astype(np.float64) - expected)
        most = max(most, float(np.max(gap / (1 + np.abs(expected)), initial=0.0)))
    return most
