"""Hashes of rows that are equal for equal numbers, however they are stored, and that say nothing without their key.

Numbers are taken as a fit in float32 sees them: 0.1 read from a file of either precision is the same number, and -0.0
is 0.0. Whether a row came flat or as an image makes no difference.
"""

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

HASH_BYTES = 8
_ROWS_AT_ONCE = 16_384


def canonical_rows(*columns: NDArray[Any]) -> NDArray[np.float32]:
    """(rows, numbers): arrays with the same number of rows side by side, each number in the one form it has."""
    with np.errstate(over="ignore"):
        flat = [column.reshape(len(column), -1).astype("<f4", order="C") for column in columns]
    numbers = flat[0] if len(flat) == 1 else np.concatenate(flat, axis=1)
    # Turns -0.0 into 0.0.
    numbers += 0
    missing = np.isnan(numbers)
    if missing.any():
        numbers[missing] = np.nan
    return numbers


def row_digests(key: bytes, *columns: NDArray[Any], purpose: bytes = b"row", prefix: bytes = b"") -> Iterator[bytes]:
    """One keyed digest per row; hashes for one purpose or prefix cannot be compared with those for another."""
    keyed = hashlib.blake2b(prefix, key=key, person=purpose, digest_size=HASH_BYTES)
    for start in range(0, len(columns[0]), _ROWS_AT_ONCE):
        numbers = canonical_rows(*(column[start : start + _ROWS_AT_ONCE] for column in columns))
        view, width = memoryview(numbers.tobytes()), numbers.shape[1] * numbers.itemsize
        for row in range(len(numbers)):
            one = keyed.copy()
            one.update(view[row * width : (row + 1) * width])
            yield one.digest()


def row_hashes(key: bytes, *columns: NDArray[Any]) -> NDArray[np.uint64]:
    """(rows,): as numbers that are as good as uniform."""
    return np.frombuffer(b"".join(row_digests(key, *columns)), dtype="<u8")
