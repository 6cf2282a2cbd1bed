"""Ids of records: a kind, 48 bits of time and 80 random bits, so that they sort by age and cannot be guessed."""

import secrets
import time

ID_PATTERN = r"^[a-z]{2,6}-[0-9a-z]{1,57}$"
"""of every id in URLs and bodies"""

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_LENGTH = 26


def new_id(kind: str) -> str:
    value = (time.time_ns() // 1_000_000 << 80) | secrets.randbits(80)
    letters = []
    for _ in range(_LENGTH):
        value, digit = divmod(value, 32)
        letters.append(_ALPHABET[digit])
    return f"{kind}-{''.join(reversed(letters))}"
