"""A keyed hash of a row and a label, read as a number from 0 to 1: the same on every machine.

What is hashed are the numbers that the model sees: the inputs in the precision of the fit, in which -0.0 is 0.0, and
0.1 from a float32 file is 0.1 from a text wherever the model cannot tell them apart.

A row's words w_1, w_2, ... of 32 bits are summed up as a_1 w_1 + a_2 w_2 + ... modulo 2^64, each label adds a number of
its own, and the sum's bits are mixed by a bijection, of which the first 53 bits are the hash. The numbers a_j and the
labels' are the output of SHAKE-256 for the key. For two different rows the difference of their sums is, over the
drawing of the key, a uniform multiple of 2^t with t <= 31, the trailing zeros that all differences of words have in
common: so sums of two rows agree with probability 2^-33 at most, and those of two labels with 2^-64. More is not asked
for. Nobody is kept from finding rows with small hashes who knows the key, which is no secret: it is stored with the
predictor. And the promise needs nothing of all this: it holds for every fixed function of row and label, whatever its
values.
"""

import functools
import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

Digests = NDArray[np.uint64]
"""(n,): what is kept of rows, to hash them with any label"""

_BITS = 53
_NUMBERS_AT_ONCE = 2**20
_WORD = np.uint64(0xFFFF_FFFF)
_HALF = np.uint64(32)
_KEY_BYTES = 16


@dataclass(frozen=True)
class RowHashes:
    key: str
    """16 bytes, in hexadecimal digits"""

    @classmethod
    def of_seed(cls, seed: int) -> "RowHashes":
        """By the seed of the fit, which is fixed before any row is seen."""
        drawn = hashlib.blake2b(seed.to_bytes(8, "little"), digest_size=_KEY_BYTES, person=b"certiset ties")
        return cls(drawn.hexdigest())

    def digests(self, x: NDArray[Any], dtype: torch.dtype) -> Digests:
        """Of inputs (n, ...), as a model in this precision sees them."""
        count = len(x)
        rows = x.reshape(count, -1)
        found = np.empty(count, dtype=np.uint64)
        step = max(1, _NUMBERS_AT_ONCE // max(1, rows.shape[1]))
        for start in range(0, count, step):
            part = rows[start : start + step]
            found[start : start + step] = self._digests32(part) if dtype == torch.float32 else self._digests64(part)
        return found

    def of_labels(self, digests: Digests, y: NDArray[np.int64], classes: int) -> NDArray[np.float64]:
        """(n,): of each row with its own label."""
        return _as_shares(_mixed(digests + _numbers(self.key, "labels", classes)[y]))

    def at_most(self, digests: Digests, classes: int, limits: NDArray[np.float64]) -> NDArray[np.bool_]:
        """(limits, n, classes): whether the hash of each row and label is at most each limit, a number from 0 to 1.

        Limits are (limits,), or (limits, classes) where each class has its own.
        """
        labels, within = _numbers(self.key, "labels", classes), _as_whole(limits).reshape(len(limits), 1, -1)
        found = np.empty((len(limits), len(digests), classes), dtype=np.bool_)
        step = max(1, _NUMBERS_AT_ONCE // (classes * len(limits)))
        for start in range(0, len(digests), step):
            mixed = _mixed(digests[start : start + step, None] + labels) >> np.uint64(64 - _BITS)
            np.less_equal(mixed, within, out=found[:, start : start + step])
        return found

    def _digests32(self, rows: NDArray[Any]) -> Digests:
        words = _canonical(rows, np.float32).view(np.uint32).astype(np.uint64)
        return np.asarray(words @ _numbers(self.key, "rows", words.shape[1]))

    def _digests64(self, rows: NDArray[Any]) -> Digests:
        """Two words for each number: its last 32 bits, and its first."""
        pairs = _canonical(rows, np.float64).view(np.uint64)
        last, first = np.split(_numbers(self.key, "rows", 2 * pairs.shape[1]), 2)
        return np.asarray((pairs & _WORD) @ last + (pairs >> _HALF) @ first)


def is_key(text: Any) -> bool:
    """Whether this may be a key, as predictors store it."""
    return isinstance(text, str) and len(text) == 2 * _KEY_BYTES and set(text) <= set("0123456789abcdef")


def _canonical(rows: NDArray[Any], dtype: type[np.floating[Any]]) -> NDArray[Any]:
    with np.errstate(over="ignore"):
        # What is too large for the precision is refused by the model, for which it is infinite.
        seen = np.ascontiguousarray(rows, dtype=dtype)
    # -0.0 + 0.0 is 0.0; all other numbers stay as they are.
    return np.asarray(seen + dtype(0))


@functools.lru_cache(maxsize=32)
def _numbers(key: str, purpose: str, count: int) -> Digests:
    stream = hashlib.shake_256(f"certiset {purpose}\0".encode() + bytes.fromhex(key)).digest(8 * count)
    return np.frombuffer(stream, dtype="<u8").astype(np.uint64)


def _mixed(sums: Digests) -> Digests:
    """A bijection of 64 bits in which every bit of the sum moves about half of the others."""
    mixed = sums ^ (sums >> np.uint64(30))
    mixed *= np.uint64(0xBF58_476D_1CE4_E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D0_49BB_1331_11EB)
    mixed ^= mixed >> np.uint64(31)
    return mixed


def _as_shares(mixed: Digests) -> NDArray[np.float64]:
    """In [0, 1): multiples of 2^-53, which floats hold exactly."""
    return np.ldexp((mixed >> np.uint64(64 - _BITS)).astype(np.float64), -_BITS)


def _as_whole(shares: NDArray[np.float64]) -> Digests:
    return np.ldexp(shares, _BITS).astype(np.uint64)
