"""Hashes of rows that are equal for equal numbers, however they are stored, and that say nothing without their key.

For those with a key, numbers are taken as a fit in float32 sees them: 0.1 read from a file of either precision is the
same number, and -0.0 is 0.0. Whether a row came flat or as an image makes no difference.
"""

import hashlib
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

HASH_BYTES = 8
_ROWS_AT_ONCE = 16_384


def canonical_rows(*columns: NDArray[Any]) -> NDArray[np.float32]:
    """(rows, numbers): arrays with the same number of rows side by side, each number in the one form it has."""
    with np.errstate(over="ignore", invalid="ignore"):
        flat = [column.reshape(len(column), -1).astype("<f4", order="C") for column in columns]
        numbers = flat[0] if len(flat) == 1 else np.concatenate(flat, axis=1)
        # Turns -0.0 into 0.0.
        numbers += 0
        # A sum is quicker than a look at each, and is a number only if all of them are.
        if math.isnan(np.add.reduce(numbers, axis=None)):
            numbers[np.isnan(numbers)] = np.nan
    return numbers


def begun_hash(key: bytes, purpose: bytes, prefix: bytes = b"") -> "hashlib.blake2b":
    """What each row's digest begins with; those for one purpose or prefix cannot be compared with another's."""
    return hashlib.blake2b(prefix, key=key, person=purpose, digest_size=HASH_BYTES)


def row_digests(begun: "hashlib.blake2b", *columns: NDArray[Any]) -> Iterator[bytes]:
    """One keyed digest per row."""
    for start in range(0, len(columns[0]), _ROWS_AT_ONCE):
        yield from _each(canonical_rows(*(column[start : start + _ROWS_AT_ONCE] for column in columns)), begun)


def row_digest(begun: "hashlib.blake2b", row: NDArray[Any]) -> bytes:
    """The same of an array with a single row, in half the time: single sets are asked for often."""
    with np.errstate(over="ignore", invalid="ignore"):
        numbers = row.reshape(-1).astype("<f4")
        numbers += 0
        # The product with itself is a number only if all of them are, and quicker than a sum.
        if math.isnan(numbers.dot(numbers)):
            numbers[np.isnan(numbers)] = np.nan
    one = begun.copy()
    one.update(numbers.data)
    return one.digest()


def row_hashes(key: bytes, *columns: NDArray[Any]) -> NDArray[np.uint64]:
    """(rows,): as numbers that are as good as uniform."""
    return np.frombuffer(b"".join(row_digests(begun_hash(key, b"row"), *columns)), dtype="<u8")


def equal_row_codes(x: NDArray[Any]) -> NDArray[np.uint64]:
    """(rows,): the same number for equal rows, in all digits of float64 and whatever their type; -0.0 is 0.0.

    Without a key: for whoever has the rows anyway.
    """
    parts = (x[start : start + _ROWS_AT_ONCE] for start in range(0, len(x), _ROWS_AT_ONCE))
    rows = (np.asarray(part).reshape(len(part), -1).astype("<f8") + 0.0 for part in parts)
    digests = (digest[:HASH_BYTES] for part in rows for digest in _each(part, hashlib.sha256()))
    return np.frombuffer(b"".join(digests), dtype="<u8")


def sha256_of_inputs(x: NDArray[Any]) -> str:
    """Of all rows, in their order, as floats of 64 bits."""
    digest = hashlib.sha256(f"{x.shape}".encode())
    for start in range(0, len(x), _ROWS_AT_ONCE):
        digest.update((np.asarray(x[start : start + _ROWS_AT_ONCE]).astype("<f8") + 0.0).tobytes())
    return digest.hexdigest()


def _each(rows: NDArray[Any], begun: "hashlib._Hash | hashlib.blake2b") -> Iterator[bytes]:
    """The digest of each row, by a hash that has begun."""
    if len(rows) == 1:
        one = begun.copy()
        one.update(rows.data)
        yield one.digest()
        return
    view, width = memoryview(rows.tobytes()), rows.shape[1] * rows.itemsize
    for row in range(len(rows)):
        one = begun.copy()
        one.update(view[row * width : (row + 1) * width])
        yield one.digest()
