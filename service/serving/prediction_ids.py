"""Prediction ids that carry their own set: signed, so that a forged one is noticed, and stored nowhere.

An id holds the predictor, the member, a random number and the set that was served; in further forms also the group of
the input, where groups have thresholds of their own, and the hash of a case or an input. When its outcome comes, that
is all that is needed to say whether it was a miss; random number and hash are then written down, so that it counts
once. Under the name of a deployment that collects outcomes it also says which deployment it was, when, and the hash of
the input, which proves the input that the outcome brings again.
"""

import base64
import binascii
import hashlib
import hmac
import os
import struct
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certiset.core.jobs.outcomes import IssuedPrediction, Question
from certiset.core.sets import PredictionSets, set_kind_of_code
from certiset.service.serving.slices import row_slices

_TAG = 16
_NONCE = 12
_HEAD = struct.Struct("<B10sI12sB")
"""form, predictor, member, random number, kind of set"""
_FORM, _WITH_CASE, _WITH_GROUP, _WITH_BOTH = 1, 2, 3, 4
_ASKED = 4
"""beyond each of these forms: the same with a question"""
_GROUP = struct.Struct("<I")
"""the place of the group's threshold, which follows the head in forms that have it"""
_CASE = 8
"""bytes of the hash that follows next in forms that have it"""
_QUESTION = struct.Struct("<8sQ8s")
"""deployment, milliseconds since 1970, hash of the input: follow next in forms that have them"""
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
        groups: NDArray[np.int64] | None = None,
        questions: Sequence[bytes] | None = None,
    ) -> list[str]:
        """One id per row; the id of a replay says so. ``cases`` are the hashes under which outcomes count once.

        ``questions`` are what `questions_of` makes for the deployment that was asked.
        """
        kind = sets.code | (_REPLAYED if replayed else 0)
        payloads, form = _payloads(sets, cases, groups, questions)
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
        groups: NDArray[np.int64] | None = None,
        questions: Sequence[bytes] | None = None,
    ) -> Iterator[NDArray[np.bytes_]]:
        """The same, so few rows at a time that each part takes a fraction of a millisecond."""
        kind, raw, keyed = sets.code | (_REPLAYED if replayed else 0), _raw(predictor), self._keyed(tenant)
        for part in row_slices(len(sets), sets.row_numbers, at_once=_ROWS_AT_ONCE, most=_NUMBERS_AT_ONCE):
            rows, once = sets.take(part), None if cases is None else cases[part]
            own, asked = None if groups is None else groups[part], None if questions is None else questions[part]
            payloads, form = _payloads(rows, once, own, asked)
            length = len(payloads[0])
            if any(len(payload) != length for payload in payloads):
                how: dict[str, Any] = {"replayed": replayed, "cases": once, "groups": own, "questions": asked}
                ids = self.issue(tenant, predictor, members[part], rows, **how)
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
        has_question = form > _ASKED
        form -= _ASKED * has_question
        if form not in (_FORM, _WITH_CASE, _WITH_GROUP, _WITH_BOTH) or kind is None:
            return None
        start, group, question = _HEAD.size, None, None
        if form in (_WITH_GROUP, _WITH_BOTH):
            (group,), start = _GROUP.unpack_from(body, start), start + _GROUP.size
        end = start + (_CASE if form in (_WITH_CASE, _WITH_BOTH) else 0)
        case = body[start:end].hex() or None
        if has_question:
            token, milliseconds, digest = _QUESTION.unpack_from(body, end)
            question, end = Question(token.hex(), milliseconds / 1000, digest.hex()), end + _QUESTION.size
        sets, replayed = kind.unpack(body[end:]), bool(code & _REPLAYED)
        return IssuedPrediction(f"pred-{predictor.hex()}", member, number.hex(), sets, replayed, case, group, question)


def questions_of(token: bytes, digests: Sequence[bytes]) -> list[bytes]:
    """That a deployment was asked about these inputs just now."""
    now = time.time_ns() // 1_000_000
    return [_QUESTION.pack(token, now, digest) for digest in digests]


def _payloads(
    sets: PredictionSets,
    cases: Sequence[bytes] | None,
    groups: NDArray[np.int64] | None,
    questions: Sequence[bytes] | None = None,
) -> tuple[list[bytes], int]:
    """What follows the head, and the form that says so."""
    packed, form = sets.pack(), _FORM
    if questions is not None:
        packed = [question + payload for question, payload in zip(questions, packed, strict=True)]
    if cases is not None:
        packed, form = [case + payload for case, payload in zip(cases, packed, strict=True)], _WITH_CASE
    if groups is not None:
        numbered = zip(groups.tolist(), packed, strict=True)
        packed = [_GROUP.pack(group) + payload for group, payload in numbered]
        form = _WITH_BOTH if form == _WITH_CASE else _WITH_GROUP
    return packed, form if questions is None else form + _ASKED


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
