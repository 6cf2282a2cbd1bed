"""The sets that a predictor gives: their sizes, and for one input the band over the data."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from certiset.core.certificate import Certificate
from certiset.core.certificate.rounding import at_most
from certiset.core.certificate.size_statement import cut_clause
from certiset.core.sets import PredictionSets
from certiset.core.sets.base import Reals
from certiset.service.figures.plot import BLUE, GREEN, GREY, ORANGE, Plot, extent

_BINS = 30


def size_figure(sets: PredictionSets, certificate: Certificate) -> str:
    """How large the sets of some rows are, with the certified mean."""
    sizes = sets.size
    finite = sizes[np.isfinite(sizes)]
    measure, upper = certificate.efficiency.measure, certificate.efficiency.upper_bound
    mean = float(finite.mean()) if finite.size else 0.0
    if sets.whole_sizes:
        edges = np.arange(-0.5, (finite.max() if finite.size else 1) + 1.5)
    else:
        edges = np.linspace(*extent(finite.tolist(), include=[0.0]), _BINS + 1)
    shares = np.histogram(finite, edges)[0] / max(len(sizes), 1)
    certified = (
        f" The mean is certified to be at most {at_most(upper)}{_cut(certificate)}." if upper is not None else ""
    )
    boundless = f" {len(sizes) - finite.size} sets are unbounded." if finite.size < len(sizes) else ""
    plot = Plot(
        "Sizes of sets",
        f"The sets of {len(sizes)} rows have {mean:.3g} {sets.unit} on average.{certified}{boundless}",
        f"size of a set ({measure})",
        "share of the rows",
        (float(edges[0]), max(float(edges[-1]), (upper or 0) * 1.05)),
        (0, max(float(shares.max(initial=0)), 0.01) * 1.1),
    )
    plot.bars(edges.tolist(), shares.tolist(), BLUE)
    plot.place(mean, f"mean {mean:.3g}", GREEN)
    if upper is not None:
        plot.place(upper, f"certified {at_most(upper)}", ORANGE)
    return plot.svg()


def band_figure(grid: NDArray[Any], lower: Reals, upper: Reals, x: NDArray[Any], y: NDArray[Any]) -> str:
    """The intervals over a grid of inputs, and some of the data."""
    inside = (y >= np.interp(x, grid, lower)) & (y <= np.interp(x, grid, upper))
    ends = [*lower.tolist(), *upper.tolist(), *y.tolist()]
    width = float(np.maximum(upper - lower, 0).mean())
    plot = Plot(
        "Band over the data",
        f"Intervals for inputs from {grid[0]:.3g} to {grid[-1]:.3g}, {width:.3g} wide on average, with "
        f"{len(x)} rows of the calibration data, of which {int(inside.sum())} lie inside the band.",
        "x",
        "y",
        (float(grid[0]), float(grid[-1])),
        extent(ends),
        height=360,
    )
    plot.band(grid.tolist(), lower.tolist(), upper.tolist(), BLUE, "prediction set")
    plot.points(x[inside].tolist(), y[inside].tolist(), GREY, "inside", radius=2)
    plot.points(x[~inside].tolist(), y[~inside].tolist(), ORANGE, "outside", radius=2.5)
    return plot.svg()


def _cut(certificate: Certificate) -> str:
    efficiency = certificate.efficiency
    return "" if efficiency.cap is None or efficiency.is_exact else cut_clause(efficiency.measure, efficiency.cap)
