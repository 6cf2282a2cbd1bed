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
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.sets import Balls, Boxes, Intervals, LabelSets, PredictionSets

_TAG = 16
_NONCE = 12
_HEAD = struct.Struct("<B10sI12sB")
_LABELS, _INTERVAL, _BALL, _BOX = range(4)
_VERSION = 1
_REPLAYED = 0x80


@dataclass(frozen=True)
class Prediction:
    predictor: str
    member: int
    number: str
    """random, in hex: the prediction's name in the records"""
    set: PredictionSets
    """of one row"""
    replayed: bool = False
    """whether the member was asked for and not drawn: no evidence about what is served"""


class PredictionIds:
    def __init__(self, key: bytes) -> None:
        self._key = key[:64]

    def issue(
        self, tenant: str, predictor: str, members: NDArray[np.int64], sets: PredictionSets, *, replayed: bool = False
    ) -> list[str]:
        """One id a row; the id of a replay says so."""
        kind, payloads = _pack(sets)
        kind |= _REPLAYED if replayed else 0
        raw = bytes.fromhex(predictor.removeprefix("pred-"))
        random = os.urandom(_NONCE * len(payloads))
        keyed = hashlib.blake2b(tenant.encode(), key=self._key, digest_size=_TAG)
        answer = []
        for row, (member, payload) in enumerate(zip(members.tolist(), payloads, strict=True)):
            body = _HEAD.pack(_VERSION, raw, member, random[row * _NONCE : (row + 1) * _NONCE], kind) + payload
            tag = keyed.copy()
            tag.update(b"\0" + body)
            answer.append(base64.urlsafe_b64encode(tag.digest() + body).rstrip(b"=").decode())
        return answer

    def read(self, tenant: str, id: str) -> Prediction | None:
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
        version, predictor, member, number, kind = _HEAD.unpack_from(body)
        if version != _VERSION:
            return None
        sets = _unpack(kind & ~_REPLAYED, body[_HEAD.size :])
        return Prediction(f"pred-{predictor.hex()}", member, number.hex(), sets, bool(kind & _REPLAYED))


def _pack(sets: PredictionSets) -> tuple[int, list[bytes]]:
    columns: Any
    match sets:
        case LabelSets():
            count = struct.pack("<I", sets.mask.shape[1])
            return _LABELS, [count + row.tobytes() for row in np.packbits(sets.mask, axis=1)]
        case Intervals():
            kind, columns = _INTERVAL, np.stack([sets.lower, sets.upper], axis=1)
        case Balls():
            kind, columns = _BALL, np.concatenate([sets.center, sets.radius[:, None]], axis=1)
        case Boxes():
            kind, columns = _BOX, np.concatenate([sets.lower, sets.upper], axis=1)
        case _:
            raise TypeError(f"{type(sets).__name__} has no prediction ids.")
    return kind, [row.tobytes() for row in np.ascontiguousarray(columns, dtype="<f8")]


def _unpack(kind: int, payload: bytes) -> PredictionSets:
    if kind == _LABELS:
        (classes,) = struct.unpack_from("<I", payload)
        bits = np.unpackbits(np.frombuffer(payload, dtype=np.uint8, offset=4), count=classes)
        return LabelSets(bits.astype(bool)[None, :])
    values = np.frombuffer(payload, dtype="<f8")[None, :]
    half = values.shape[1] // 2
    if kind == _INTERVAL:
        return Intervals(values[:, 0], values[:, 1])
    if kind == _BALL:
        return Balls(values[:, :-1], values[:, -1])
    return Boxes(values[:, :half], values[:, half:])
