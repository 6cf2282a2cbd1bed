"""What a fit compared before it chose."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Compared:
    """One way to adapt the model, as it did on rows that it was not tuned on."""

    name: str
    rows: int
    """that it was tuned on"""
    size: float
    """mean size of its sets, as a multiple of that of the model as given"""


@dataclass(frozen=True)
class Selection:
    """What a fit compared before it chose: on revealed rows alone, which calibrate nothing."""

    revealed: int
    """rows, or clusters, that were looked at"""
    compared: list[Compared]
    taken: str
    reason: str
    """in a sentence"""
