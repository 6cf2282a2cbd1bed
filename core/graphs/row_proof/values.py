"""What is known of a value in a graph before any row is seen: its shape, and where in it the rows are.

Let N be the number of rows in a batch. The extent of the axis that runs over rows is outer · N · inner: entry
(o · N + n) · inner + i of it is computed from row n alone. A value that has no such axis is the same whatever the rows
are and however many there are, but for entries of its content that are multiples of N.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

MOST_ENTRIES = 4096
"""of a content that is followed"""


class NotProvedError(Exception):
    """The proof does not reach this operator; the message, a clause, says why."""


@dataclass(frozen=True)
class Size:
    """So many for each row of the batch."""

    times: int
    kind: type[Any] = field(default=np.int64, compare=False)
    """the type of number that the graph has it in"""


Extent: TypeAlias = "int | Size | None"
"""of an axis; None: the same for every batch, but not known"""


@dataclass(frozen=True)
class Rows:
    """The axis that runs over rows, and how many entries there are before and after each row's own."""

    axis: int
    outer: int = 1
    inner: int = 1

    @property
    def extent(self) -> Size:
        return Size(self.outer * self.inner)

    @property
    def plain(self) -> bool:
        """Whether the axis has one entry for each row, in their order."""
        return self.outer == self.inner == 1

    def moved(self, axis: int) -> "Rows":
        return Rows(axis, self.outer, self.inner)


@dataclass(frozen=True, eq=False)
class Value:
    shape: tuple[Extent, ...]
    """a `Size` where the rows are, and only there"""
    rows: Rows | None = None
    content: NDArray[Any] | None = None
    """of a small value that no row has a part in: NumPy scalars, or `Size` where the number of rows is meant"""

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def sized(self) -> bool:
        """Whether the number of rows is in the content."""
        return self.content is not None and any(isinstance(entry, Size) for entry in self.content.flat)

    def same_as(self, other: "Value") -> bool:
        """Whether as much is known of it as of the other one, apart from contents."""
        return self.shape == other.shape and self.rows == other.rows

    def forgotten(self) -> "Value":
        """Without its content."""
        if self.sized:
            raise NotProvedError("computes with the number of rows")
        return Value(self.shape, self.rows)


@dataclass(frozen=True)
class Unproved:
    """A value that may be anything."""

    reason: str


def of_rows(shape: Sequence[Extent], rows: Rows) -> Value:
    """A value with an axis of rows, whatever the shape says there."""
    sides = list(shape)
    sides[rows.axis] = rows.extent
    return Value(tuple(sides), rows)


def like(value: Value, shape: Sequence[Extent], rows: Rows | None) -> Value:
    """A value computed from another one: of rows if that one is, else the same for all batches."""
    return Value(tuple(shape)) if value.rows is None or rows is None else of_rows(shape, rows)


def known(content: NDArray[Any]) -> Value:
    """A value whose content is followed, if that is small enough."""
    value = Value(content.shape, None, content)
    return value if content.size <= MOST_ENTRIES else value.forgotten()


def contents(array: NDArray[Any]) -> NDArray[Any]:
    """An array of NumPy scalars, which compute as the graph does: whole numbers overflow, floats are rounded."""
    found = np.empty(array.shape, dtype=object)
    for place in np.ndindex(array.shape):
        found[place] = array[place]
    return found


def whole(entries: NDArray[Any]) -> list[int | Size]:
    """The entries of a list of extents."""
    return [entry if isinstance(entry, Size) else int(entry) for entry in entries.reshape(-1)]


def numbers(extents: Sequence[Extent]) -> Iterator[int]:
    for extent in extents:
        if not isinstance(extent, int):
            raise NotProvedError("depends on a shape that is not known")
        yield extent


def count(extents: Sequence[Extent]) -> int:
    """The product of extents that must be known and not zero."""
    found = prod(numbers(extents))
    if found <= 0:
        raise NotProvedError("has an axis without entries")
    return found


def place(axis: int, rank: int) -> int:
    """An axis counted from the front."""
    if not -rank <= axis < rank:
        raise NotProvedError("names an axis that does not exist")
    return axis % rank
