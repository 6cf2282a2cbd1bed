"""Drawings on Matplotlib's axes: in notebooks and scripts, in the style that is set there."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from certiset.core.drawing import GREY, Drawing, opened
from certiset.core.errors import OptionError
from certiset.extras import explaining

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDTH = 640
_PIXELS = 96
"""in an inch, as browsers have them"""


def draw(drawing: Drawing, ax: "Axes | None" = None) -> "Axes":
    """Onto these axes, or those of a figure of its own."""
    if ax is None:
        with explaining("plot"):
            from matplotlib import pyplot  # noqa: PLC0415 (an extra, and slow to load)
        _, ax = pyplot.subplots(figsize=(_WIDTH / _PIXELS, drawing.height / _PIXELS), layout="constrained")
    surface = _Surface(ax)
    drawing.onto(surface)
    # Names of groups and classes are a user's: what looks like a formula in them is none.
    ax.set_title(drawing.title, parse_math=False)
    ax.set_xlabel(drawing.x_label, parse_math=False)
    ax.set_ylabel(drawing.y_label, parse_math=False)
    ax.set_xlim(*opened(drawing.x_range))
    ax.set_ylim(*opened(drawing.y_range))
    if drawing.x_ticks:
        ax.set_xticks(list(drawing.x_ticks), list(drawing.x_names), parse_math=False)
    if drawing.y_ticks:
        ax.set_yticks(list(drawing.y_ticks), list(drawing.y_names), parse_math=False)
    ax.grid(visible=True, axis="y", alpha=0.2)
    if surface.named:
        legend = ax.legend(fontsize="small", loc="best")
        for text in legend.get_texts():
            text.set_parse_math(False)
    return ax


Name = TypeVar("Name", bound=str)


def one_of(what: Name, choices: Collection[Name]) -> Name:
    """Which figure: one of those that there are."""
    if what not in choices:
        raise OptionError(f"what is {what!r}, which is no figure: choose {', '.join(choices)}.", field="what")
    return what


class _Surface:
    def __init__(self, ax: "Axes") -> None:
        self._ax = ax
        self.named = False
        """whether there is something for a legend"""

    def line(self, x: Sequence[float], y: Sequence[float], colour: str, label: str = "") -> None:
        self._ax.plot(x, _finite(y), color=colour, linewidth=2, label=self._name(label))

    def points(self, x: Sequence[float], y: Sequence[float], colour: str, label: str = "", radius: float = 3) -> None:
        self._ax.plot(
            x, y, "o", color=colour, alpha=0.75, markersize=2 * radius, markeredgewidth=0, label=self._name(label)
        )

    def band(
        self, x: Sequence[float], lower: Sequence[float], upper: Sequence[float], colour: str, label: str = ""
    ) -> None:
        there = np.isfinite(lower) & np.isfinite(upper)
        self._ax.fill_between(
            x,
            _finite(lower),
            _finite(upper),
            where=there.tolist(),
            color=colour,
            alpha=0.3,
            linewidth=0,
            label=self._name(label),
        )

    def intervals(
        self, x: Sequence[float], lower: Sequence[float], upper: Sequence[float], colour: str, label: str = ""
    ) -> None:
        there = np.isfinite(lower) & np.isfinite(upper)
        self._ax.vlines(
            np.asarray(x)[there],
            np.asarray(lower)[there],
            np.asarray(upper)[there],
            colors=colour,
            alpha=0.35,
            linewidth=7,
            label=self._name(label),
        )

    def bars(self, edges: Sequence[float], heights: Sequence[float], colour: str) -> None:
        left = np.asarray(edges[:-1])
        self._ax.bar(left, heights, width=0.96 * np.diff(edges), align="edge", color=colour)

    def level(self, y: float, label: str, colour: str = GREY, *, named_left: bool = False) -> None:
        self._ax.axhline(y, color=colour, linestyle="--", linewidth=1.2, label=self._name(label))

    def place(self, x: float, label: str, colour: str = GREY) -> None:
        self._ax.axvline(x, color=colour, linestyle="--", linewidth=1.6, label=self._name(label))

    def _name(self, label: str) -> str:
        self.named = self.named or bool(label)
        # A label that begins with an underscore would be left out of the legend.
        return f"\u200b{label}" if label.startswith("_") else label


def _finite(values: Sequence[float]) -> "np.ndarray[tuple[int, ...], np.dtype[np.float64]]":
    found = np.asarray(values, dtype=np.float64)
    return np.where(np.isfinite(found), found, np.nan)
