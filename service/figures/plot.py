"""Figures as SVG text: axes, lines, points, bands and bars, with a title and a description for who cannot see them.

Axes and words take the colour of the page around them, and the series stand out on light and dark ground alike, so that
one figure serves both. Nothing but presentation attributes: pages that forbid inline styles show it as it is.
"""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

BLUE, ORANGE, GREEN, GREY = "#3987d5", "#d9742b", "#2a9d74", "#8a8f98"
PURPLE, RED, BROWN = "#8e63c7", "#c9463d", "#9a7b3f"
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 16, 34, 44
_LEGEND_ROW = 18


@dataclass
class Plot:
    title: str
    description: str
    """says in words what is to be seen"""
    x_label: str
    y_label: str
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    width: int = 640
    height: int = 300
    x_ticks: Sequence[float] = ()
    """where the x axis is marked; round numbers if none are given"""
    legend_rows: int = 1
    """how many rows the names of the series may take"""
    log_x: bool = False
    """whether equal factors of x, not equal differences, are equally far apart"""
    _marks: list[str] = field(default_factory=list)
    _legend: list[tuple[str, str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.x_range, self.y_range = _opened(self.x_range), _opened(self.y_range)

    def line(self, x: Sequence[float], y: Sequence[float], colour: str, label: str = "", dash: str = "") -> None:
        """A line through the points; where a value is not finite, it is broken."""
        for part in _runs(x, y):
            points = " ".join(f"{self._x(a):.1f},{self._y(b):.1f}" for a, b in part)
            dashed = f' stroke-dasharray="{dash}"' if dash else ""
            self._marks.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"{dashed}/>')
        self._named(label, colour, dash or "line")

    def points(self, x: Sequence[float], y: Sequence[float], colour: str, label: str = "", radius: float = 3) -> None:
        self._marks += [
            f'<circle cx="{self._x(a):.1f}" cy="{self._y(b):.1f}" r="{radius}" fill="{colour}" fill-opacity="0.75"/>'
            for a, b in zip(x, y, strict=True)
            if math.isfinite(a) and math.isfinite(b)
        ]
        self._named(label, colour, "point")

    def band(
        self, x: Sequence[float], lower: Sequence[float], upper: Sequence[float], colour: str, label: str = ""
    ) -> None:
        there = [(a, b, c) for a, b, c in zip(x, lower, upper, strict=True) if math.isfinite(b) and math.isfinite(c)]
        edge = [(a, c) for a, _, c in there] + [(a, b) for a, b, _ in reversed(there)]
        points = " ".join(f"{self._x(a):.1f},{self._y(b):.1f}" for a, b in edge)
        self._marks.append(f'<polygon points="{points}" fill="{colour}" fill-opacity="0.3"/>')
        self._named(label, colour, "band")

    def bars(self, edges: Sequence[float], heights: Sequence[float], colour: str) -> None:
        base = self._y(max(0.0, self.y_range[0]))
        for left, right, height in zip(edges[:-1], edges[1:], heights, strict=True):
            top, a, b = self._y(height), self._x(left), self._x(right)
            self._marks.append(
                f'<rect x="{a + 0.5:.1f}" y="{top:.1f}" width="{max(b - a - 1, 0.5):.1f}" '
                f'height="{max(base - top, 0):.1f}" fill="{colour}"/>'
            )

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
        at, bottom = self._x(x), self.height - _BOTTOM
        anchor, shift = ("end", -5) if at > self.width * 0.7 else ("start", 5)
        self._marks.append(
            f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{self._top}" y2="{bottom}" stroke="{colour}" '
            f'stroke-dasharray="5 4"/>'
            f'<text x="{at + shift:.1f}" y="{self._top + 12}" text-anchor="{anchor}" fill="currentColor">'
            f"{escape(label)}</text>"
        )

    def svg(self, background: str = "") -> str:
        """The figure; with a background it stands by itself, dark on that colour, and not in the colours of a page."""
        ground, colour = "", ""
        if background:
            ground, colour = f'<rect width="100%" height="100%" fill="{background}"/>', ' color="#1d2129"'
        name = "f" + hashlib.sha256(f"{self.title}{self._marks}".encode()).hexdigest()[:10]
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" role="img" '
            f'aria-labelledby="{name}-title {name}-text" font-family="system-ui, sans-serif" font-size="12"{colour}>'
            f'<title id="{name}-title">{escape(self.title)}</title><desc id="{name}-text">{escape(self.description)}'
            f'</desc>{ground}<clipPath id="{name}-clip"><rect x="{_LEFT - 4}" y="{self._top - 4}" '
            f'width="{self.width - _LEFT - _RIGHT + 8}" height="{self.height - self._top - _BOTTOM + 8}"/></clipPath>'
            f'{self._axes()}<g clip-path="url(#{name}-clip)">{"".join(self._marks)}</g>{self._names()}</svg>'
        )

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
        for tick in self.x_ticks or ticks(*self.x_range):
            at = self._x(tick)
            parts.append(f'<text x="{at:.1f}" y="{bottom + 17}" text-anchor="middle">{_number(tick)}</text>')
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
            room = 40 + 6.6 * len(label)
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


def extent(values: Sequence[float], *, margin: float = 0.05, include: Sequence[float] = ()) -> tuple[float, float]:
    """From the least to the largest finite value, and a little more."""
    finite = [value for value in (*values, *include) if math.isfinite(value)] or [0.0, 1.0]
    low, high = min(finite), max(finite)
    room = margin * (high - low)
    return low - room, high + room


def _opened(bounds: tuple[float, float]) -> tuple[float, float]:
    low, high = bounds
    room = max(abs(low), abs(high), 1.0) * 1e-3
    return (low, high) if high - low > room * 1e-6 else (low - room, high + room)


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
