"""Figures as SVG text: axes, lines, points, bands and bars, with a title and a description for who cannot see them.

Axes and words take the colour of the page around them, and the series stand out on light and dark ground alike, so that
one figure serves both. Nothing but presentation attributes: pages that forbid inline styles show it as it is.
"""

import hashlib
import itertools
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from certiset.core.drawing import BLUE, BROWN, GREEN, GREY, ORANGE, PURPLE, RED, extent, opened

__all__ = ["BLUE", "BROWN", "GREEN", "GREY", "ORANGE", "PURPLE", "RED", "WIDTH", "Plot", "extent", "ticks"]

_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 16, 34, 44
_LEGEND_ROW = 18
_LABEL_ROW = 15
_LETTER = 6.6
"""pixels that a letter takes, about"""
WIDTH = 640
_NARROW = 480


@dataclass
class Plot:
    title: str
    description: str
    """says in words what is to be seen"""
    x_label: str
    y_label: str
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    width: int = WIDTH
    """in pixels: a page asks for as many as it has, so that letters are as large as its own"""
    height: int = 300
    x_ticks: Sequence[float] = ()
    """where the x axis is marked; round numbers if none are given"""
    x_names: Sequence[str] = ()
    """what stands at these marks in place of numbers"""
    legend_rows: int = 1
    """how many rows the names of the series may take"""
    log_x: bool = False
    """whether equal factors of x, not equal differences, are equally far apart"""
    _marks: list[str] = field(default_factory=list)
    _legend: list[tuple[str, str, str]] = field(default_factory=list)
    _places: list[tuple[float, str, str]] = field(default_factory=list)
    """vertical lines: where, their name, their colour"""
    _series: list[dict[str, Any]] = field(default_factory=list)
    """what is drawn, as numbers: for tooltips, and for who wants them as a table"""

    def __post_init__(self) -> None:
        self.x_range, self.y_range = opened(self.x_range), opened(self.y_range)
        if self.width < _NARROW:
            self.legend_rows += 1

    def line(self, x: Sequence[float], y: Sequence[float], colour: str, label: str = "", dash: str = "") -> None:
        """A line through the points; where a value is not finite, it is broken."""
        for part in _runs(x, y):
            points = " ".join(f"{self._x(a):.1f},{self._y(b):.1f}" for a, b in part)
            dashed = f' stroke-dasharray="{dash}"' if dash else ""
            self._marks.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"{dashed}/>')
        self._named(label, colour, dash or "line")
        self._told(label, x, y)

    def points(self, x: Sequence[float], y: Sequence[float], colour: str, label: str = "", radius: float = 3) -> None:
        self._marks += [
            f'<circle cx="{self._x(a):.1f}" cy="{self._y(b):.1f}" r="{radius}" fill="{colour}" fill-opacity="0.75"/>'
            for a, b in zip(x, y, strict=True)
            if math.isfinite(a) and math.isfinite(b)
        ]
        self._named(label, colour, "point")
        self._told(label, x, y)

    def band(
        self, x: Sequence[float], lower: Sequence[float], upper: Sequence[float], colour: str, label: str = ""
    ) -> None:
        there = [(a, b, c) for a, b, c in zip(x, lower, upper, strict=True) if math.isfinite(b) and math.isfinite(c)]
        edge = [(a, c) for a, _, c in there] + [(a, b) for a, b, _ in reversed(there)]
        points = " ".join(f"{self._x(a):.1f},{self._y(b):.1f}" for a, b in edge)
        self._marks.append(f'<polygon points="{points}" fill="{colour}" fill-opacity="0.3"/>')
        self._named(label, colour, "band")
        self._told(f"{label}, lower", x, lower)
        self._told(f"{label}, upper", x, upper)

    def intervals(
        self, x: Sequence[float], lower: Sequence[float], upper: Sequence[float], colour: str, label: str = ""
    ) -> None:
        """A vertical bar at each x; none where an end is not finite."""
        for a, low, high in zip(x, lower, upper, strict=True):
            if math.isfinite(low) and math.isfinite(high):
                at, ends = self._x(a), (self._y(low), self._y(high))
                self._marks.append(
                    f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{ends[0]:.1f}" y2="{ends[1]:.1f}" stroke="{colour}" '
                    f'stroke-width="7" stroke-opacity="0.35"/>'
                )
        self._named(label, colour, "band")
        self._told(f"{label}, lower", x, lower)
        self._told(f"{label}, upper", x, upper)

    def bars(self, edges: Sequence[float], heights: Sequence[float], colour: str) -> None:
        base = self._y(max(0.0, self.y_range[0]))
        for left, right, height in zip(edges[:-1], edges[1:], heights, strict=True):
            top, a, b = self._y(height), self._x(left), self._x(right)
            self._marks.append(
                f'<rect x="{a + 0.5:.1f}" y="{top:.1f}" width="{max(b - a - 1, 0.5):.1f}" '
                f'height="{max(base - top, 0):.1f}" fill="{colour}"/>'
            )

        middles = [(left + right) / 2 for left, right in itertools.pairwise(edges)]
        self._told("", middles, heights)

    def level(self, y: float, label: str, colour: str = GREY, *, named_left: bool = False) -> None:
        """A horizontal line with its name, on the right unless what is drawn runs through it there."""
        at, right = self._y(y), self.width - _RIGHT
        beside, anchor = (_LEFT + 4, "start") if named_left else (right - 4, "end")
        self._marks.append(
            f'<line x1="{_LEFT}" x2="{right}" y1="{at:.1f}" y2="{at:.1f}" stroke="{colour}" stroke-dasharray="5 4"/>'
            f'<text x="{beside}" y="{at - 5:.1f}" text-anchor="{anchor}" fill="currentColor">{escape(label)}</text>'
        )

    def place(self, x: float, label: str, colour: str = GREY) -> None:
        """A vertical line with its name."""
        self._places.append((self._x(x), label, colour))

    def svg(self, background: str = "") -> str:
        """The figure; with a background it stands by itself, dark on that colour, and not in the colours of a page."""
        ground, colour = "", ""
        if background:
            ground, colour = f'<rect width="100%" height="100%" fill="{background}"/>', ' color="#1d2129"'
        name = "f" + hashlib.sha256(f"{self.title}{self._marks}{self._places}".encode()).hexdigest()[:10]
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" role="img" '
            f'aria-labelledby="{name}-title {name}-text" font-family="system-ui, sans-serif" font-size="12"{colour}>'
            f'<title id="{name}-title">{escape(self.title)}</title><desc id="{name}-text">{escape(self.description)}'
            f"</desc><metadata>{escape(json.dumps(self._data()))}</metadata>"
            f'{ground}<clipPath id="{name}-clip"><rect x="{_LEFT - 4}" y="{self._top - 4}" '
            f'width="{self.width - _LEFT - _RIGHT + 8}" height="{self.height - self._top - _BOTTOM + 8}"/></clipPath>'
            f'{self._axes()}<g clip-path="url(#{name}-clip)">{"".join(self._marks)}{self._place_marks()}</g>'
            f"{self._names()}</svg>"
        )

    def _place_marks(self) -> str:
        """Each name beside its line: to the right or left, and as far down as it must be to stand in nobody's way."""
        bottom = self.height - _BOTTOM
        parts: list[str] = []
        taken: list[tuple[float, float, int]] = []
        for at, label, colour in self._places:
            long = 5 + _LETTER * len(label)
            crossed = [other for other, *_ in self._places if other != at]
            options = [
                (sum(begin < line < end for line in crossed), row, begin, end, anchor)
                for begin, end, anchor in ((at, at + long, "start"), (at - long, at, "end"))
                if begin >= _LEFT and end <= self.width - _RIGHT
                for row in range(len(self._places))
                if not any(begin < right and left < end and row == used for left, right, used in taken)
            ]
            # What fits on neither side stands across its line.
            across = max(float(_LEFT), min(at, self.width - _RIGHT - long))
            _, row, begin, end, anchor = min(options, default=(0, len(taken), across, across + long, "start"))
            taken.append((begin, end, row))
            beside = begin + 5 if anchor == "start" else end - 5
            parts.append(
                f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{self._top}" y2="{bottom}" stroke="{colour}" '
                f'stroke-dasharray="5 4" stroke-width="2"/>'
                f'<text x="{beside:.1f}" y="{self._top + 12 + _LABEL_ROW * row}" text-anchor="{anchor}" '
                f'fill="currentColor">{escape(label)}</text>'
            )
        return "".join(parts)

    def _data(self) -> dict[str, Any]:
        """The numbers, and where they stand in the figure."""
        return {
            "x": self.x_label,
            "y": self.y_label,
            "series": [series for series in self._series if series["points"]],
        }

    def _told(self, label: str, x: Sequence[float], y: Sequence[float]) -> None:
        there = [(a, b) for a, b in zip(x, y, strict=True) if math.isfinite(a) and math.isfinite(b)]
        points = [[_short(a), _short(b), round(self._x(a), 1), round(self._y(b), 1)] for a, b in there]
        self._series.append({"name": label, "points": points})

    def _named(self, label: str, colour: str, kind: str) -> None:
        if label:
            self._legend.append((label, colour, kind))

    @property
    def _top(self) -> int:
        return _TOP + _LEGEND_ROW * (self.legend_rows - 1)

    def _x(self, value: float) -> float:
        low, high = self.x_range
        if self.log_x:
            low, high, value = math.log(low), math.log(high), math.log(value)
        return _LEFT + (value - low) / (high - low) * (self.width - _LEFT - _RIGHT)

    def _y(self, value: float) -> float:
        low, high = self.y_range
        return self.height - _BOTTOM - (value - low) / (high - low) * (self.height - self._top - _BOTTOM)

    def _axes(self) -> str:
        bottom, right = self.height - _BOTTOM, self.width - _RIGHT
        parts = []
        marked = self.x_ticks or ticks(*self.x_range, most=max(2, min(8, self.width // 75)))
        for place, tick in enumerate(marked):
            at = self._x(tick)
            name = escape(self.x_names[place]) if self.x_names else _number(tick)
            parts.append(f'<text x="{at:.1f}" y="{bottom + 17}" text-anchor="middle">{name}</text>')
            parts.append(f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{bottom}" y2="{bottom + 4}" stroke="currentColor"/>')
        for tick in ticks(*self.y_range, most=6):
            at = self._y(tick)
            parts.append(f'<text x="{_LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{_number(tick)}</text>')
            parts.append(
                f'<line x1="{_LEFT}" x2="{right}" y1="{at:.1f}" y2="{at:.1f}" stroke="currentColor" '
                f'stroke-opacity="0.12"/>'
            )
        middle = (self._top + bottom) / 2
        return (
            f'<g fill="currentColor">{"".join(parts)}'
            f'<line x1="{_LEFT}" x2="{right}" y1="{bottom}" y2="{bottom}" stroke="currentColor"/>'
            f'<text x="{(_LEFT + right) / 2:.1f}" y="{self.height - 6}" text-anchor="middle">{escape(self.x_label)}'
            f'</text><text transform="translate(14 {middle:.1f}) rotate(-90)" text-anchor="middle">'
            f"{escape(self.y_label)}</text></g>"
        )

    def _names(self) -> str:
        parts, at, y = [], float(_LEFT), 14
        for label, colour, kind in self._legend:
            room = 34 + _LETTER * len(label)
            if at + room > self.width and at > _LEFT:
                at, y = float(_LEFT), y + _LEGEND_ROW
            if kind == "band":
                mark = f'<rect x="{at}" y="{y - 5}" width="16" height="10" fill="{colour}" fill-opacity="0.35"/>'
            elif kind == "point":
                mark = f'<circle cx="{at + 8}" cy="{y}" r="4" fill="{colour}"/>'
            else:
                dash = f' stroke-dasharray="{kind}"' if kind != "line" else ""
                mark = f'<line x1="{at}" x2="{at + 16}" y1="{y}" y2="{y}" stroke="{colour}" stroke-width="3"{dash}/>'
            parts.append(f'{mark}<text x="{at + 22}" y="{y + 4}" fill="currentColor">{escape(label)}</text>')
            at += room
        return "".join(parts)


def ticks(low: float, high: float, most: int = 8) -> list[float]:
    """Round numbers from low to high."""
    raw = (high - low) / most
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= raw * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    count = math.floor(high / step + 1e-9) - first + 1
    return [round((first + place) * step, 12) for place in range(count)]


def _short(value: float) -> float:
    return float(f"{value:.6g}")


def _number(value: float) -> str:
    if value != 0 and not 1e-3 <= abs(value) < 1e5:
        return f"{value:.1e}"
    return f"{value:g}"


def _runs(x: Sequence[float], y: Sequence[float]) -> list[list[tuple[float, float]]]:
    found: list[list[tuple[float, float]]] = [[]]
    for a, b in zip(x, y, strict=True):
        if math.isfinite(a) and math.isfinite(b):
            found[-1].append((a, b))
        elif found[-1]:
            found.append([])
    return [run for run in found if run]
