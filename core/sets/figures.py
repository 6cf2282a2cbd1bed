"""Drawings of sets: how large they are, and, over one input, what they contain."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certiset.core.drawing import BLUE, GREEN, GREY, ORANGE, Drawing, extent

Numbers = NDArray[np.floating[Any]]
_BINS = 30
_ROW = 26
"""pixels for each class"""


def sizes(
    found: Numbers,
    *,
    whole: bool,
    unit: str,
    measure: str,
    certified: float | None = None,
    certified_label: str = "",
    further: str = "",
) -> Drawing:
    """How large the sets of some rows are, with the certified mean where there is one.

    ``whole``: whether sizes are whole numbers; ``further``: what is to be said about the rows.
    """
    finite = found[np.isfinite(found)]
    mean = float(finite.mean()) if finite.size else 0.0
    if whole:
        edges = np.arange(-0.5, (finite.max() if finite.size else 1) + 1.5)
    else:
        edges = np.linspace(*extent(finite.tolist(), include=[0.0]), _BINS + 1)
    shares = np.histogram(finite, edges)[0] / max(len(found), 1)
    drawing = Drawing(
        "Sizes of sets",
        f"The sets of {len(found)} rows have {mean:.4g} {unit} on average.{further}",
        f"size of a set ({measure})",
        "share of the rows",
        (float(edges[0]), max(float(edges[-1]), (certified or 0) * 1.05)),
        (0, max(float(shares.max(initial=0)), 0.01) * 1.1),
    )
    drawing.bars(edges.tolist(), shares.tolist(), BLUE)
    drawing.place(mean, f"mean {mean:.4g}", GREEN)
    if certified is not None:
        drawing.place(certified, certified_label, ORANGE)
    return drawing


def band(
    grid: Numbers, lower: Numbers, upper: Numbers, x: Numbers, y: Numbers, inside: NDArray[np.bool_], rows: str = "rows"
) -> Drawing:
    """Intervals over one input, and the truths that are known: ``y`` at ``x``, in their sets or not."""
    ends = [*lower.tolist(), *upper.tolist(), *y.tolist()]
    wide = float(np.maximum(upper - lower, 0).mean())
    known = f", with {len(x)} {rows}, of which {int(inside.sum())} lie inside the band" if len(x) else ""
    drawing = Drawing(
        "Band over the data" if len(x) else "Sets over x",
        f"Intervals for inputs from {grid[0]:.3g} to {grid[-1]:.3g}, {wide:.3g} wide on average{known}.",
        "x",
        "y",
        (float(grid[0]), float(grid[-1])),
        extent(ends),
        height=360,
    )
    drawing.band(grid.tolist(), lower.tolist(), upper.tolist(), BLUE, "prediction set")
    _truths(drawing, x, y, inside)
    return drawing


def labels(x: Numbers, mask: NDArray[np.bool_], names: Sequence[str], y: Numbers, inside: NDArray[np.bool_]) -> Drawing:
    """Which labels are in the sets over one input, a line for each class; ``y`` are the truths, as numbers, or none."""
    classes = mask.shape[1]
    known = f" Of {len(y)} truths {int(inside.sum())} lie in their sets." if len(y) else ""
    drawing = Drawing(
        "Sets over x",
        f"Sets of {len(x)} inputs from {x.min():.3g} to {x.max():.3g}, {mask.sum(axis=1).mean():.3g} labels on "
        f"average.{known}",
        "x",
        "label",
        extent(x.tolist()),
        (-0.6, classes - 0.4),
        height=140 + _ROW * min(classes, 30),
        y_ticks=[float(place) for place in range(classes)],
        y_names=list(names),
    )
    rows, places = np.nonzero(mask)
    drawing.points(x[rows].tolist(), places.astype(float).tolist(), BLUE, "in the set", radius=3.5)
    if len(y):
        _truths(drawing, x, y, inside)
    return drawing


def _truths(drawing: Drawing, x: Numbers, y: Numbers, inside: NDArray[np.bool_]) -> None:
    drawing.points(x[inside].tolist(), y[inside].tolist(), GREY, "inside", radius=2)
    drawing.points(x[~inside].tolist(), y[~inside].tolist(), ORANGE, "outside", radius=2.5)
