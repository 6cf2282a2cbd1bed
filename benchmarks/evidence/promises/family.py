"""A family of promises: settings in which a promise is made, and a simulation that counts how often it is broken."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

CHAPTERS = {
    "coverage": "Coverage",
    "groups": "Groups and classes",
    "population": "Another population",
    "rows": "Rows that belong together",
    "attempts": "The best of several attempts",
    "sizes": "Sizes",
    "monitor": "The monitor",
    "deployments": "Deployments",
    "caveats": "Caveats about honest rows",
}
"""in the order of the page"""


@dataclass(frozen=True)
class Tally:
    """What came out for one statement."""

    statement: str
    level: float
    """how often it may be false"""
    broken: int
    """in how many runs it was"""
    made: int
    """in how many runs it was made"""
    promised: bool = True
    """False: a comparison, for which nothing is promised"""
    facts: dict[str, float] = field(default_factory=dict)
    """means over the runs in which it was made"""


@dataclass(frozen=True)
class Case:
    """One setting."""

    name: str
    settings: dict[str, Any]
    """what the simulation is called with, as JSON"""
    runs: int
    quick_runs: int
    parts: int = 1
    """pieces in which the runs are made, each kept when it is done"""


@dataclass(frozen=True)
class Family:
    kind: str
    chapter: str
    """of CHAPTERS"""
    title: str
    about: str
    """what is promised and how it is simulated, for the page"""
    simulate: Callable[..., list[Tally]]
    """of runs, seed and a case's settings"""
    cases: Sequence[Case]
