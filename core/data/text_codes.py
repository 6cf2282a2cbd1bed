"""A column of text as it is read, cell by cell: each value is kept once."""

from array import array

import numpy as np

from certiset.core.data.frame import TextColumn
from certiset.core.data.limits import Limits

_ENTRY = 64
"""bytes that a value takes beside its text"""


class TextCodes:
    def __init__(self, limits: Limits) -> None:
        self._limits, self._bytes = limits, 0
        self._places: dict[str, int] = {}
        self._codes = array("i")

    def add(self, cell: str | None) -> None:
        """None where nothing is given."""
        if cell is None:
            self._codes.append(-1)
            return
        place = self._places.get(cell)
        if place is None:
            place = self._places[cell] = len(self._places)
            self._bytes += len(cell) + _ENTRY
            self._limits.check_unpacked(self._bytes)
        self._codes.append(place)

    def column(self) -> TextColumn:
        """In alphabetical order."""
        values = sorted(self._places)
        new = np.empty(len(values) + 1, dtype=np.int32)
        new[-1] = -1
        for place, value in enumerate(values):
            new[self._places[value]] = place
        return TextColumn(new[np.frombuffer(self._codes, dtype=np.int32)] if self._codes else new[:0], values)
