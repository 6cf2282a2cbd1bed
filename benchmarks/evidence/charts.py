"""The figures of the evidence, as SVG files that stand by themselves."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.evidence.summary import NAMES, Run, best
from certiset.service.figures.plot import BLUE, BROWN, GREEN, GREY, ORANGE, PURPLE, RED, Plot, extent

COLOURS = {
    "standard_2a": (GREY, "4 3"),
    "standard_2b": (GREY, ""),
    "learned_2a": (ORANGE, "4 3"),
    "learned_2b": (ORANGE, ""),
    "learned_proper": (GREEN, ""),
    "paper": (RED, ""),
    "chernoff": (RED, "4 3"),
    "drawn": (PURPLE, ""),
    "ours": (BLUE, ""),
    "learned_2b_both": (BROWN, ""),
    "learned_proper_both": (GREEN, "4 3"),
}
SERIES = (BLUE, ORANGE, GREEN, PURPLE, RED, BROWN, GREY)
_GROUND = "#ffffff"


def over_n(
    runs: Sequence[Run],
    methods: Sequence[str],
    sizes: Sequence[int],
    value: str,
    label: str,
    *,
    title: str,
    **where: Any,
) -> Plot:
    """A line for each method: the mean of ``value`` over seeds, over N."""
    lines = {}
    for method in methods:
        means = [best(runs, method, n=n, **where) for n in sizes]
        lines[method] = [float("nan") if one is None else float(getattr(one, value)) for one in means]
    plot = Plot(
        title,
        "; ".join(f"{NAMES[m]}: " + ", ".join(f"{v:.2f}" for v in line) for m, line in lines.items()),
        "N, the points to tune and calibrate on",
        label,
        (min(sizes) * 0.95, max(sizes) * 1.05),
        extent([v for line in lines.values() for v in line]),
        height=360,
        x_ticks=sizes,
        log_x=True,
        legend_rows=3,
    )
    for method, line in lines.items():
        colour, dash = COLOURS[method]
        plot.line(sizes, line, colour, NAMES[method], dash)
        plot.points(sizes, line, colour, radius=2.5)
    return plot


def series(
    lines: Mapping[str, Sequence[float]],
    x: Sequence[float],
    *,
    title: str,
    x_label: str,
    y_label: str,
    log_x: bool = False,
) -> Plot:
    """Named lines over x, coloured in turn."""
    plot = Plot(
        title,
        "; ".join(f"{name}: " + ", ".join(f"{v:.2f}" for v in line) for name, line in lines.items()),
        x_label,
        y_label,
        (min(x) * 0.95, max(x) * 1.05) if log_x else extent(x),
        extent([v for line in lines.values() for v in line]),
        height=340,
        x_ticks=x if len(x) <= 12 else (),
        log_x=log_x,
        legend_rows=2,
    )
    for (name, line), colour in zip(lines.items(), SERIES, strict=False):
        plot.line(x, line, colour, name)
        plot.points(x, line, colour, radius=2.5)
    return plot


def save(plot: Plot, file: Path) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(plot.svg(_GROUND) + "\n", encoding="utf-8")
    return file


def save_panels(plots: Sequence[Plot], columns: int, file: Path) -> Path:
    """Several figures in one file, row by row, all of the first one's size."""
    width, height = plots[0].width, plots[0].height
    rows = -(-len(plots) // columns)
    parts = []
    for place, plot in enumerate(plots):
        left, top = width * (place % columns), height * (place // columns)
        inner = re.sub(r"^<svg ", f'<svg x="{left}" y="{top}" width="{width}" height="{height}" ', plot.svg(_GROUND))
        parts.append(inner)
    file.parent.mkdir(parents=True, exist_ok=True)
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width * columns} {height * rows}">'
    file.write_text(f"{opening}{''.join(parts)}</svg>\n", encoding="utf-8")
    return file
