"""One line of a verification: what a number should be, and what it is."""

import math
from dataclasses import dataclass
from typing import Any

TOLERANCE = 1e-9


@dataclass(frozen=True)
class Check:
    name: str
    ok: bool
    expected: Any
    found: Any


def equal(name: str, expected: Any, found: Any) -> Check:
    return Check(name, bool(expected == found), expected, found)


def close(name: str, expected: float, found: float | None) -> Check:
    return Check(name, found is not None and math.isclose(expected, found, rel_tol=TOLERANCE), expected, found)
