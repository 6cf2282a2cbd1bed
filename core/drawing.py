"""A figure before it is drawn: its words, its axes, and what stands in it.

A drawing is made once, where its numbers are, and goes onto any surface: the service's SVG for the page, or the axes of
Matplotlib in a notebook.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

BLUE, ORANGE, GREEN, GREY = "#3987d5", "#d9742b", "#2a9d74", "#8a8f98"
PURPLE, RED, BROWN = "#8e63c7", "#c9463d", "#9a7b3f"
"""they stand out on light and dark ground alike"""


class Surface(Protocol):
    """What can be drawn on."""

    def line(self, x: Sequence[float], y: Sequence[float], colour: str, label: str = "") -> None:
        """A line through the points; where a value is not finite, it is broken."""

    def points(
        self, x: Sequence[float], y: Sequence[float], colour: str, label: str = "", radius: float = 3
    ) -> None: ...

    def band(
        self, x: Sequence[float], lower: Sequence[float], upper: Sequence[float], colour: str, label: str = ""
    ) -> None:
        """All that is between two lines."""

    def intervals(
        self, x: Sequence[float], lower: Sequence[float], upper: Sequence[float], colour: str, label: str = ""
    ) -> None:
        """A vertical bar at each x; none where an end is not finite."""

    def bars(self, edges: Sequence[float], heights: Sequence[float], colour: str) -> None: ...

    def level(self, y: float, label: str, colour: str = GREY, *, named_left: bool = False) -> None:
        """A horizontal line with its name, on the right unless what is drawn runs through it there."""

    def place(self, x: float, label: str, colour: str = GREY) -> None:
        """A vertical line with its name."""


@dataclass
class Drawing:
    """Takes what any surface takes, and keeps it until there is one."""

    title: str
    description: str
    """says in words what is to be seen"""
    x_label: str
    y_label: str
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    height: int = 300
    """in pixels, of a figure that is 640 wide"""
    x_ticks: Sequence[float] = ()
    """where the x axis is marked; round numbers if none are given"""
    x_names: Sequence[str] = ()
    """what stands at these marks in place of numbers"""
    y_ticks: Sequence[float] = ()
    y_names: Sequence[str] = ()
    _marks: list[Callable[[Surface], None]] = field(default_factory=list, repr=False)

    def onto(self, surface: Surface) -> None:
        for mark in self._marks:
            mark(surface)

    def line(self, x: Sequence[float], y: Sequence[float], colour: str, label: str = "") -> None:
        self._marks.append(lambda surface: surface.line(x, y, colour, label))

    def points(self, x: Sequence[float], y: Sequence[float], colour: str, label: str = "", radius: float = 3) -> None:
        self._marks.append(lambda surface: surface.points(x, y, colour, label, radius))

    def band(
        self, x: Sequence[float], lower: Sequence[float], upper: Sequence[float], colour: str, label: str = ""
    ) -> None:
        self._marks.append(lambda surface: surface.band(x, lower, upper, colour, label))

    def intervals(
        self, x: Sequence[float], lower: Sequence[float], upper: Sequence[float], colour: str, label: str = ""
    ) -> None:
        self._marks.append(lambda surface: surface.intervals(x, lower, upper, colour, label))

    def bars(self, edges: Sequence[float], heights: Sequence[float], colour: str) -> None:
        self._marks.append(lambda surface: surface.bars(edges, heights, colour))

    def level(self, y: float, label: str, colour: str = GREY, *, named_left: bool = False) -> None:
        self._marks.append(lambda surface: surface.level(y, label, colour, named_left=named_left))

    def place(self, x: float, label: str, colour: str = GREY) -> None:
        self._marks.append(lambda surface: surface.place(x, label, colour))


def extent(values: Sequence[float], *, margin: float = 0.05, include: Sequence[float] = ()) -> tuple[float, float]:
    """From the least to the largest finite value, and a little more."""
    finite = [value for value in (*values, *include) if math.isfinite(value)] or [0.0, 1.0]
    low, high = min(finite), max(finite)
    room = margin * (high - low)
    return low - room, high + room


def opened(bounds: tuple[float, float]) -> tuple[float, float]:
    """The same, or a little around it where there is nothing between its ends."""
    low, high = bounds
    room = max(abs(low), abs(high), 1.0) * 1e-3
    return (low, high) if high - low > room * 1e-6 else (low - room, high + room)
