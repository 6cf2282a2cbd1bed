"""The paper's budget figure, with our two bounds beside its own."""

from collections.abc import Callable
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import BoundaryNorm
from matplotlib.figure import Figure
from numpy.typing import NDArray

from certiset.core.bounds import kl_budget, largest_rank, per_draw_budget
from certiset.core.bounds.domain import Floats, Ints
from certiset.core.bounds.vovk2a import level_2a
from certiset.core.errors import CertisetError

_FORMATS = (".svg", ".png", ".pdf")
_POINTS = 120
_LEVELS = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500)

_BOUNDS: dict[str, Callable[..., float | Floats]] = {
    "seeger (the paper)": lambda n, k, alpha, delta: kl_budget(n, k, alpha, delta, "seeger"),
    "chernoff": lambda n, k, alpha, delta: kl_budget(n, k, alpha, delta, "chernoff"),
    "per draw": per_draw_budget,
}


class FigureFileError(CertisetError, ValueError):
    """The file's name says no format that can be drawn."""

    code = "figure_file"


def draw_budgets(file: Path, n: int, alpha: float, delta: float) -> None:
    """Draws the budgets over (alpha_hat, n) and over (alpha_hat, delta), a column for each bound."""
    if file.suffix.lower() not in _FORMATS:
        raise FigureFileError(f"{file} must end in one of {', '.join(_FORMATS)} to be drawn.")
    figure = Figure(figsize=(12, 7), layout="constrained")
    grid = figure.subplots(2, len(_BOUNDS), sharey=True)
    sizes = np.unique(np.geomspace(max(20, 2 / alpha), max(10 * n, 10_000), _POINTS).astype(np.int64))
    risks = np.geomspace(min(1e-6, delta), 0.5, _POINTS)
    norm = BoundaryNorm(_LEVELS, ncolors=256, extend="both")
    for column, (name, budget) in enumerate(_BOUNDS.items()):
        over_n, over_delta = grid[0, column], grid[1, column]
        _map(over_n, sizes, sizes, np.full(sizes.shape, delta), alpha, budget, norm)
        _map(over_delta, risks, np.full(risks.shape, n), risks, alpha, budget, norm)
        over_n.set_title(name)
        over_n.set_xlabel(f"n  (delta = {delta:g})")
        over_delta.set_xlabel(f"delta  (n = {n})")
        if column == 0:
            over_n.set_ylabel("alpha_hat")
            over_delta.set_ylabel("alpha_hat")
    grid[0, 0].legend(loc="lower right", fontsize="small")
    figure.colorbar(ScalarMappable(norm=norm, cmap="viridis"), ax=grid, label="KL budget in nats", ticks=_LEVELS)
    figure.suptitle(f"How far a posterior may leave its prior at alpha = {alpha:g}")
    with matplotlib.rc_context({"svg.hashsalt": "certiset"}):
        figure.savefig(file, metadata={"Date": None} if file.suffix.lower() == ".svg" else None)


def _map(
    axes: Axes,
    across: NDArray[np.float64] | Ints,
    n: Ints,
    delta: Floats,
    alpha: float,
    budget: Callable[..., float | Floats],
    norm: BoundaryNorm,
) -> None:
    levels = np.linspace(0.0, alpha, _POINTS + 1)[1:]
    ranks = np.floor((n + 1) * levels[:, None]).astype(np.int64)  # (levels, across)
    values = np.asarray(budget(n, np.clip(ranks, 1, n), alpha, delta))
    nats = np.ma.masked_where((ranks < 1) | (values < 0), values)
    axes.pcolormesh(across, levels, nats, norm=norm, cmap="viridis", shading="nearest", rasterized=True)
    exact = np.asarray(largest_rank(n, alpha, delta, bound="per_draw")) / (n + 1)
    hoeffding = level_2a(n, np.full(n.shape, alpha), delta)
    axes.plot(across, np.where(exact > 0, exact, np.nan), color="black", lw=1.2, label="Vovk 2b")
    axes.plot(across, np.where(hoeffding > 0, hoeffding, np.nan), color="crimson", lw=1.2, ls="--", label="Vovk 2a")
    axes.set_xscale("log")
    axes.set_ylim(0, alpha)
