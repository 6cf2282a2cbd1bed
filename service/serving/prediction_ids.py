"""Prediction ids that carry their own set: signed, so that a forged one is noticed, and stored nowhere.

An id holds the predictor, the member, a random number and the set that was served; in its second form also the hash of
a case or an input. When its outcome comes, that is all that is needed to say whether it was a miss; random number
and hash are then written down, so that it counts once.
"""

import base64
import binascii
import hashlib
import hmac
import os
import struct
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from certiset.core.jobs.outcomes import IssuedPrediction
from certiset.core.sets import PredictionSets, set_kind_of_code
from certiset.service.serving.slices import row_slices

_TAG = 16
_NONCE = 12
_HEAD = struct.Struct("<B10sI12sB")
"""form, predictor, member, random number, kind of set"""
_FORM, _WITH_CASE = 1, 2
_CASE = 8
"""bytes of the hash that follows the head in the second form"""
_HEAD_FIELDS = [("form", "u1"), ("predictor", "V10"), ("member", "<u4"), ("number", f"V{_NONCE}"), ("kind", "u1")]
"""the same for an array of many"""
_REPLAYED = 0x80
_ROWS_AT_ONCE = 256
_NUMBERS_AT_ONCE = 2**15


class PredictionIds:
    def __init__(self, key: bytes) -> None:
        self._key = key[:64]

    def issue(
        self,
        tenant: str,
        predictor: str,
        members: NDArray[np.int64],
        sets: PredictionSets,
        *,
        replayed: bool = False,
        cases: Sequence[bytes] | None = None,
    ) -> list[str]:
        """One id per row; the id of a replay says so. ``cases`` are the hashes under which outcomes count once."""
        kind = sets.code | (_REPLAYED if replayed else 0)
        payloads, form = _payloads(sets, cases)
        raw = _raw(predictor)
        random = os.urandom(_NONCE * len(payloads))
        keyed = self._keyed(tenant)
        issued = []
        for row, (member, payload) in enumerate(zip(members.tolist(), payloads, strict=True)):
            body = _HEAD.pack(form, raw, member, random[row * _NONCE : (row + 1) * _NONCE], kind) + payload
            tag = keyed.copy()
            tag.update(body)
            issued.append(base64.urlsafe_b64encode(tag.digest() + body).rstrip(b"=").decode())
        return issued

    def issue_in_parts(
        self,
        tenant: str,
        predictor: str,
        members: NDArray[np.int64],
        sets: PredictionSets,
        *,
        replayed: bool = False,
        cases: Sequence[bytes] | None = None,
    ) -> Iterator[NDArray[np.bytes_]]:
        """The same, so few rows at a time that each part takes a fraction of a millisecond."""
        kind, raw, keyed = sets.code | (_REPLAYED if replayed else 0), _raw(predictor), self._keyed(tenant)
        for part in row_slices(len(sets), sets.row_numbers, at_once=_ROWS_AT_ONCE, most=_NUMBERS_AT_ONCE):
            rows, once = sets.take(part), None if cases is None else cases[part]
            payloads, form = _payloads(rows, once)
            length = len(payloads[0])
            if any(len(payload) != length for payload in payloads):
                ids = self.issue(tenant, predictor, members[part], rows, replayed=replayed, cases=once)
                yield np.array(ids, dtype="S")
                continue
            bodies = np.empty(len(payloads), dtype=[*_HEAD_FIELDS, ("payload", f"V{length}")])
            bodies["form"], bodies["predictor"], bodies["kind"] = form, np.void(raw), kind
            bodies["member"] = members[part]
            bodies["number"] = np.frombuffer(os.urandom(_NONCE * len(payloads)), dtype=f"V{_NONCE}")
            bodies["payload"] = np.frombuffer(b"".join(payloads), dtype=f"V{length}")
            yield _signed(bodies.tobytes(), bodies.itemsize, keyed)

    def _keyed(self, tenant: str) -> "hashlib.blake2b":
        return hashlib.blake2b(tenant.encode() + b"\0", key=self._key, digest_size=_TAG)

    def read(self, tenant: str, id: str) -> IssuedPrediction | None:
        """What the id says, or None if it was not issued here, to that tenant."""
        try:
            raw = base64.urlsafe_b64decode(id.encode("ascii") + b"=" * (-len(id) % 4))
        except (ValueError, binascii.Error):
            return None
        tag, body = raw[:_TAG], raw[_TAG:]
        keyed = self._keyed(tenant)
        keyed.update(body)
        if not hmac.compare_digest(keyed.digest(), tag) or len(body) < _HEAD.size:
            return None
        form, predictor, member, number, code = _HEAD.unpack_from(body)
        kind = set_kind_of_code(code & ~_REPLAYED)
        if form not in (_FORM, _WITH_CASE) or kind is None:
            return None
        start = _HEAD.size + (_CASE if form == _WITH_CASE else 0)
        case = body[_HEAD.size : start].hex() or None
        sets = kind.unpack(body[start:])
        return IssuedPrediction(f"pred-{predictor.hex()}", member, number.hex(), sets, bool(code & _REPLAYED), case)


def _payloads(sets: PredictionSets, cases: Sequence[bytes] | None) -> tuple[list[bytes], int]:
    """What follows the head, and the form that says so."""
    if cases is None:
        return sets.pack(), _FORM
    return [case + payload for case, payload in zip(cases, sets.pack(), strict=True)], _WITH_CASE


def _raw(predictor: str) -> bytes:
    return bytes.fromhex(predictor.removeprefix("pred-"))


def _signed(bodies: bytes, length: int, keyed: "hashlib.blake2b") -> NDArray[np.bytes_]:
    """Ids for bodies of one length: each with its tag, and all of them in base64 at once."""
    tags, copy = [], keyed.copy
    for start in range(0, len(bodies), length):
        tag = copy()
        tag.update(bodies[start : start + length])
        tags.append(tag.digest())
    # Filled up to whole groups of three bytes, each row begins at a group of its own.
    size = _TAG + length
    rows = np.zeros((len(tags), size + -size % 3), dtype=np.uint8)
    rows[:, :_TAG] = np.frombuffer(b"".join(tags), dtype=np.uint8).reshape(-1, _TAG)
    rows[:, _TAG:size] = np.frombuffer(bodies, dtype=np.uint8).reshape(-1, length)
    letters = np.frombuffer(base64.urlsafe_b64encode(rows.tobytes()), dtype=np.uint8).reshape(len(tags), -1)
    kept = (4 * size + 2) // 3
    return np.ascontiguousarray(letters[:, :kept]).view(f"S{kept}")[:, 0]
