"""Rows that have equal ones but no relatives, in tables of whole numbers: copies, and not chance.

Where independent draws come up twice, draws that differ from each other in one respect come up far more often. Let D_h
be how many pairs of rows differ in h columns. If columns are independent, given a class or whatever else makes rows
alike, then D_h is proportional to the h-th elementary symmetric polynomial of the odds of a difference in each column,
and by Newton's inequality D_0 <= D_1^2 / (2 D_2). Copies add to D_0 alone.

Columns that belong together, such as the codes of one category or products of others, change at once. So a step is not
one column but as many as the nearest pairs differ by: D_1 and D_2 are the pairs at a distance of one and of two steps.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

_FEWEST_GROUPS = 10
_SMALLEST_SHARE = 0.01
"""of the distinct rows, which must have copies"""
_MOST_IN_A_COPY = 3
_SHARE_OF_COPIES = 0.75
"""of the repeated rows, which come two or three times: what is popular comes more often"""
_COMPARED = 200_000_000
_FEWEST_PAIRS = 10
_TIMES = 32
_MARGIN = 4.0


def are_lone_copies(rows: NDArray[Any], counts: NDArray[np.int64], rng: np.random.Generator) -> bool:
    """For distinct rows (rows, columns), and how often each of them occurs."""
    repeated = counts[counts > 1]
    if len(repeated) < max(_FEWEST_GROUPS, _SMALLEST_SHARE * len(counts)):
        return False
    if np.mean(repeated <= _MOST_IN_A_COPY) < _SHARE_OF_COPIES:
        return False
    chosen = rng.permutation(len(rows))[: int(np.sqrt(_COMPARED / rows.shape[1]))]
    share = (len(chosen) / len(rows)) ** 2
    expected = _expected(_pairs_by_distance(_coded(rows[chosen])), share * len(repeated)) / share
    return bool(len(repeated) - 3 * np.sqrt(len(repeated)) > _MARGIN * expected)


def _pairs_by_distance(codes: NDArray[np.int32]) -> NDArray[np.int64]:
    """(columns + 1,): how many pairs of rows differ in so many columns."""
    found = np.zeros(codes.shape[1] + 1, dtype=np.int64)
    for row in range(len(codes) - 1):
        different = np.count_nonzero(codes[row + 1 :] != codes[row], axis=1)
        found += np.bincount(different, minlength=len(found))
    return found


def _expected(by_distance: NDArray[np.int64], copies: float) -> float:
    """At most so many equal pairs, by the pairs at one step and at two; infinite where there are none to go by.

    How long a step is depends on the columns: lengths are tried from as many pairs as there are copies to 32 times
    that. Wide rows are compared in some columns, in which two may agree: those are near.
    """
    within = np.cumsum(by_distance).astype(np.float64)
    enough = max(_FEWEST_PAIRS, copies)
    lengths = np.arange(1, len(within))
    near = within[lengths]
    first = max(1, int(np.searchsorted(within, enough)))
    tried = (lengths == first) | ((near >= enough) & (near <= _TIMES * enough))
    if not tried.any():
        return np.inf
    farther = within[np.minimum(2 * lengths, len(within) - 1)] - near
    with np.errstate(divide="ignore"):
        return float(np.max(near[tried] ** 2 / (2 * farther[tried])))


def _coded(columns: NDArray[Any]) -> NDArray[np.int32]:
    """(rows, columns): each value as its place among those of its column."""
    return np.stack([np.unique(column, return_inverse=True)[1].astype(np.int32) for column in columns.T], axis=1)
