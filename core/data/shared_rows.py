"""Which share of some inputs is among others that are at hand, in any order and precision; nothing of it is kept."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from certiset.core.data.row_hashes import canonical_rows

_ROWS_AT_ONCE = 16_384
_DISTINCT = 0.99


def shared_rows(x: NDArray[Any], known: NDArray[Any]) -> float:
    """Of the distinct rows of x.

    Where the known ones repeat, as in a table of few categories, equal rows are no sign of a row used twice: there it
    is 1 for the very same rows, each as often, and otherwise 0.
    """
    width = int(np.prod(x.shape[1:]))
    # Sums with random odd factors: as a hash, uniform enough to count by, and quick for millions of rows.
    factors = np.random.default_rng(0).integers(2**63, size=width, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    codes, others = _codes(x, factors), _codes(known, factors)
    if len(np.unique(others)) < _DISTINCT * len(others):
        return float(np.array_equal(np.sort(codes), np.sort(others)))
    return float(np.isin(np.unique(codes), others).mean())


def _codes(x: NDArray[Any], factors: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """(rows,): equal for equal rows."""
    found = np.empty(len(x), dtype=np.uint64)
    for start in range(0, len(x), _ROWS_AT_ONCE):
        bits = canonical_rows(x[start : start + _ROWS_AT_ONCE]).view(np.uint32).astype(np.uint64)
        found[start : start + len(bits)] = bits @ factors
    return found
