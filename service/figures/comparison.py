"""The sizes of several predictors' sets, side by side."""

from collections.abc import Mapping

import numpy as np

from certiset.core.sets import PredictionSets
from certiset.service.figures.plot import BLUE, BROWN, GREEN, ORANGE, PURPLE, RED, WIDTH, Plot

_CURVE = 150
_NARROW = 560


def comparison_figure(sets: Mapping[str, PredictionSets], width: int = WIDTH) -> str:
    """Which share of the rows has a set of at most each size, for several predictors: farther left is better."""
    sizes = {name: np.sort(one.size[np.isfinite(one.size)]) for name, one in sets.items()}
    top = max((float(one[-1]) for one in sizes.values() if len(one)), default=1.0)
    means = "; ".join(f"{name}: {one.mean():.4g} on average" for name, one in sizes.items() if len(one))
    plot = Plot(
        "Sizes side by side",
        f"{means}, over all uploaded rows, those that tuned included. A line that rises farther to the left has "
        "smaller sets.",
        f"size of a set ({next(iter(sets.values())).unit})",
        "share of the rows with at most this size",
        (0.0, top * 1.02),
        (0.0, 1.02),
        width=width,
        height=340,
        legend_rows=max(1, len(sets) if width < _NARROW else (len(sets) + 1) // 2),
    )
    for (name, one), colour in zip(sizes.items(), (BLUE, ORANGE, GREEN, PURPLE, RED, BROWN), strict=False):
        values, counts = np.unique(one, return_counts=True)
        shares = np.cumsum(counts) / max(len(sets[name].size), 1)
        keep = np.unique(np.linspace(0, len(values) - 1, min(len(values), _CURVE)).astype(int))
        x, y = values[keep], shares[keep]
        steps_x, steps_y = np.repeat(np.r_[0.0, x], 2)[1:], np.repeat(np.r_[0.0, y], 2)[:-1]
        plot.line([*steps_x.tolist(), top * 1.02], [*steps_y.tolist(), float(shares[-1])], colour, name)
    return plot.svg()
