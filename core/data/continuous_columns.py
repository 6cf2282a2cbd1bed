"""Columns whose values lie so finely that two independent draws never meet."""

import numpy as np
from numpy.typing import NDArray

_FEWEST_VALUES = 20
_ROWS_PER_VALUE = 20
_GRID_SHARE = 0.1


def is_continuous(values: NDArray[np.float64], rows: float) -> bool:
    """Of the sorted distinct values of a column.

    m distinct values on a grid of G cells meet by chance about m^2 / (2 G) times, so that G must be of the order of
    m^2. Drawn numbers have such a G (the smallest of m random gaps is about 1 / m^2 of their range); ages, grades and
    pixels do not.
    """
    if len(values) < max(_FEWEST_VALUES, rows / _ROWS_PER_VALUE):
        return False
    with np.errstate(over="ignore"):
        cells = (values[-1] - values[0]) / np.diff(values).min()
    return bool(cells >= _GRID_SHARE * len(values) ** 2)
