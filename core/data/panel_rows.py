"""Rows that are equal but for one column, such as the number of a patient's visit, in a table of drawn numbers.

Left out a column, they are rows that agree in values which no others have. In one continuous column that may be honest:
houses of one street share the street's mean income. In two or more, and in all others, independent draws would not.
"""

import numpy as np
from numpy.typing import NDArray

from certiset.core.data.continuous_columns import is_continuous

_FEWEST_COLUMNS = 3
MOST_COLUMNS = 64
"""of a table that is looked at"""
_FEWEST_GROUPS = 5
_SMALLEST_SHARE = 0.01
"""of the rows, which must be such groups"""
_AGREEING = 2
"""continuous columns"""


def share_equal_but_one(rows: NDArray[np.float64], rng: np.random.Generator) -> float:
    """Of distinct rows (rows, columns): those that agree with others in all columns but one, if no draws would."""
    width = rows.shape[1]
    if not _FEWEST_COLUMNS <= width <= MOST_COLUMNS:
        return 0.0
    codes = np.stack([_hashed(column, rng) for column in rows.T])
    with np.errstate(over="ignore"):
        whole = codes.sum(axis=0, dtype=np.uint64)
        return max(_share(whole - codes[place], np.delete(rows, place, axis=1)) for place in range(width))


def _hashed(column: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.uint64]:
    """A random number for each value, so that sums of them tell rows apart."""
    values, place = np.unique(column, return_inverse=True)
    return rng.integers(2**64, size=len(values), dtype=np.uint64)[place]


def _share(codes: NDArray[np.uint64], rows: NDArray[np.float64]) -> float:
    """Of rows in groups of equal codes whose values no other group has, in columns enough; 0 if they are few."""
    _, first, counts = np.unique(codes, return_index=True, return_counts=True)
    repeated = counts > 1
    if repeated.sum() < max(_FEWEST_GROUPS, _SMALLEST_SHARE * len(first)):
        return 0.0
    agreeing = np.zeros(len(first), dtype=np.int64)
    for column in rows[first].T:
        found, place, shared_by = np.unique(column, return_inverse=True, return_counts=True)
        if is_continuous(found, len(first)):
            agreeing += shared_by[place] == 1
    found_groups = repeated & (agreeing >= _AGREEING)
    if found_groups.sum() < max(_FEWEST_GROUPS, _SMALLEST_SHARE * len(first)):
        return 0.0
    return float(counts[found_groups].sum() / len(codes))
