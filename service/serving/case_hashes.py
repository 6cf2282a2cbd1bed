"""Keyed hashes of cases and inputs: what rides in a prediction's id, so that a case counts once, and says nothing else.

A case is what the caller calls one: a patient, an order, a frame of a video. It also decides which member answers, so
that asking again about the same case gives the same set. An input decides nothing: the answer to a frequent input would
always come from the same member.
"""

import hashlib
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certiset.core.data.case_names import LONGEST_CASE
from certiset.core.data.row_hashes import HASH_BYTES, begun_hash, row_digest, row_digests
from certiset.core.errors import OptionError

_REMEMBERED = 1024
"""predictors whose hashes need not be begun again"""
Cases = str | Sequence[str]
"""one for all rows, or one for each"""


def checked_cases(given: Any, rows: int, field: str) -> list[str]:
    """One name per row, or an error that names the field."""
    names = [given] * rows if isinstance(given, str) else given
    if not isinstance(names, list) or len(names) != rows:
        raise OptionError(
            f"{field} must be a text, or a list with one text for each of the {rows:,} rows.", field=field
        )
    if not all(type(name) is str and 0 < len(name) <= LONGEST_CASE for name in names):
        raise OptionError(f"{field} must be a text of 1 to {LONGEST_CASE} characters for each row.", field=field)
    return names


class CaseHashes:
    def __init__(self, key: bytes) -> None:
        self._key = key
        self._of_inputs = lru_cache(_REMEMBERED)(partial(begun_hash, key, b"input"))

    def of_cases(self, tenant: str, predictor: str, names: Sequence[str]) -> tuple[list[bytes], NDArray[np.uint64]]:
        """One hash per case, and a number that is as good as random, by which its member is chosen."""
        prefix = _owner(tenant, predictor)
        keyed = hashlib.blake2b(prefix, key=self._key, person=b"case", digest_size=2 * HASH_BYTES)
        digests = []
        for name in names:
            one = keyed.copy()
            one.update(name.encode("utf-8", "surrogatepass"))
            digests.append(one.digest())
        numbers = np.frombuffer(b"".join(digests), dtype="<u8")[1::2]
        return [digest[:HASH_BYTES] for digest in digests], numbers

    def of_inputs(self, tenant: str, predictor: str, inputs: NDArray[Any]) -> list[bytes]:
        """One hash per input: equal numbers have equal hashes, in whatever precision they came."""
        begun = self._of_inputs(_owner(tenant, predictor))
        return [row_digest(begun, inputs)] if len(inputs) == 1 else list(row_digests(begun, inputs))


def _owner(tenant: str, predictor: str) -> bytes:
    return f"{tenant}\0{predictor}\0".encode()
