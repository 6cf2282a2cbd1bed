"""Prediction ids that carry their own set: signed, so that a forged one is noticed, and stored nowhere.

An id holds the predictor, the member, a random number and the set that was served. When its outcome comes, that is all
that is needed to say whether it was a miss; the random number is then written down, so that it counts once.
"""

import base64
import binascii
import hashlib
import hmac
import os
import struct

import numpy as np
from numpy.typing import NDArray

from certiset.core.jobs.outcomes import IssuedPrediction
from certiset.core.sets import PredictionSets, set_kind_of_code

_TAG = 16
_NONCE = 12
_HEAD = struct.Struct("<B10sI12sB")
"""form, predictor, member, random number, kind of set"""
_FORM = 1
_REPLAYED = 0x80


class PredictionIds:
    def __init__(self, key: bytes) -> None:
        self._key = key[:64]

    def issue(
        self, tenant: str, predictor: str, members: NDArray[np.int64], sets: PredictionSets, *, replayed: bool = False
    ) -> list[str]:
        """One id per row; the id of a replay says so."""
        kind = sets.code | (_REPLAYED if replayed else 0)
        payloads = sets.pack()
        raw = bytes.fromhex(predictor.removeprefix("pred-"))
        random = os.urandom(_NONCE * len(payloads))
        keyed = hashlib.blake2b(tenant.encode(), key=self._key, digest_size=_TAG)
        issued = []
        for row, (member, payload) in enumerate(zip(members.tolist(), payloads, strict=True)):
            body = _HEAD.pack(_FORM, raw, member, random[row * _NONCE : (row + 1) * _NONCE], kind) + payload
            tag = keyed.copy()
            tag.update(b"\0" + body)
            issued.append(base64.urlsafe_b64encode(tag.digest() + body).rstrip(b"=").decode())
        return issued

    def read(self, tenant: str, id: str) -> IssuedPrediction | None:
        """What the id says, or None if it was not issued here, to that tenant."""
        try:
            raw = base64.urlsafe_b64decode(id.encode("ascii") + b"=" * (-len(id) % 4))
        except (ValueError, binascii.Error):
            return None
        tag, body = raw[:_TAG], raw[_TAG:]
        keyed = hashlib.blake2b(tenant.encode(), key=self._key, digest_size=_TAG)
        keyed.update(b"\0" + body)
        if not hmac.compare_digest(keyed.digest(), tag) or len(body) < _HEAD.size:
            return None
        form, predictor, member, number, code = _HEAD.unpack_from(body)
        kind = set_kind_of_code(code & ~_REPLAYED)
        if form != _FORM or kind is None:
            return None
        sets = kind.unpack(body[_HEAD.size :])
        return IssuedPrediction(f"pred-{predictor.hex()}", member, number.hex(), sets, bool(code & _REPLAYED))
