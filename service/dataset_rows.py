"""Some rows of a stored dataset, to look at."""

import math
from typing import Any

from numpy.typing import NDArray

from core.datasets.rows import read_rows
from core.store.artifacts import Artifacts
from core.store.records import Dataset


def rows_of(
    artifacts: Artifacts, dataset: Dataset, start: int, count: int, *, most_numbers: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    """x and y from ``start`` on: ``count`` rows, or as many, at least one, as make up so many numbers."""
    most = max(1, most_numbers // max(1, math.prod(dataset.x_shape)))
    return read_rows(lambda first, last: artifacts.part(dataset.artifact, first, last), start, min(count, most))
