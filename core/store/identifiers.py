"""Ids of records: a kind, 48 bits of time and 80 random bits, so that they sort by age and cannot be guessed."""

import secrets
import time

ID_PATTERN = r"^[a-z]{2,6}-[0-9a-z]{1,57}$"
"""of every id in URLs and bodies"""

REFERENCE_PATTERN = r"^[a-z0-9][a-z0-9._-]{0,63}$"
"""of what stands where a predictor is named: its id, or the name of a deployment"""
_PREDICTOR = "pred-"
_PLURALS = {
    "pred": "predictors",
    "ds": "datasets",
    "mod": "models",
    "cal": "calibrations",
    "cert": "certificates",
    "key": "keys",
    "aud": "audit entries",
    "batch": "batches",
}
KINDS = tuple(_PLURALS)
"""with which ids begin, before a dash: no name does"""

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
ID_LENGTH = 26
"""letters behind the dash"""


def new_id(kind: str) -> str:
    value = (time.time_ns() // 1_000_000 << 80) | secrets.randbits(80)
    letters = []
    for _ in range(ID_LENGTH):
        value, digit = divmod(value, 32)
        letters.append(_ALPHABET[digit])
    return f"{kind}-{''.join(reversed(letters))}"


def nothing_called(noun: str, id: str) -> str:
    """What is said where no such record has an id, which may be one of another kind."""
    kind, dash, _ = id.partition("-")
    kinds = _PLURALS.get(kind, noun) if dash else noun
    return f"There is no {noun} {id}{'' if kinds.startswith(noun) else f': ids of {kinds} begin like that'}."


def is_predictor_id(reference: str) -> bool:
    """Whether this is a predictor's id and not a deployment's name."""
    return reference.startswith(_PREDICTOR)
