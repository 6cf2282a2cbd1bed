"""What the sweep on the toy regression says, with the bands over the data."""

from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.evidence.charts import COLOURS, over_n, save, save_panels
from benchmarks.evidence.learning_problem import ALPHA, DELTA
from benchmarks.evidence.summary import (
    NAMES,
    Run,
    best,
    coverage_text,
    drawn_table,
    group_coverage,
    present,
    standings_table,
    table,
)
from certiset.service.figures.plot import GREY, Plot, extent

METHODS = (
    "standard_2a",
    "standard_2b",
    "learned_2a",
    "learned_2b",
    "learned_2b_both",
    "learned_proper",
    "learned_proper_both",
    "paper",
    "chernoff",
    "drawn",
    "ours",
)

DRAWN = tuple(method for method in METHODS if method not in ("chernoff", "learned_proper_both"))


def report(result: dict[str, Any], folder: Path) -> str:
    runs: list[Run] = result["runs"]
    sizes = sorted({run["n"] for run in runs if "split" in run})
    splits = sorted({run["split"] for run in runs if "split" in run})
    parts = [_INTRODUCTION]
    for split in splits:
        rows = [[NAMES[method], *[_cell(runs, method, n, split) for n in sizes]] for method in present(runs, METHODS)]
        parts.append(
            f"## Width / log radius, split {split:g}\n\n" + table(["method", *[f"N = {n}" for n in sizes]], rows)
        )
    shown = 0.5
    title = "Mean width over N"
    plot = over_n(runs, present(runs, DRAWN), sizes, "size", "mean width", title=title, split=shown)
    save(plot, folder / "toy" / "width.svg")
    panels = [panel for bands in result["bands"] for panel in _bands(bands)]
    save_panels(panels, max(1, len(panels) // len(result["bands"])), folder / "toy" / "bands.svg")
    save(_by_tenth(runs, max(sizes), shown), folder / "toy" / "coverage.svg")
    parts += [
        *(["## Beside the standard method\n\n" + standings_table(runs)] if present(runs, ["ours"]) else []),
        *(["## What pac_bayes serves\n\n" + drawn_table(runs)] if present(runs, ["drawn"]) else []),
        "![width over N](toy/width.svg)\n",
        "![bands over the data](toy/bands.svg)\n",
        "## Coverage\n\n"
        + coverage_text(runs, METHODS, DELTA)
        + "\nMean log radius rewards a method for giving up a part "
        "of the inputs; the mean width and coverage over x show whether it does.\n\n![coverage over "
        "x](toy/coverage.svg)\n",
    ]
    return "\n".join(parts)


_INTRODUCTION = """x is uniform on [-1, 1] and y = cos(5x) + 0.3 e1 + 1.8 sigmoid(5x) e2, with e1 and e2 uniform on
[-0.5, 0.5]; the base predictor has two hidden layers of 64 and was trained on 100 points. N points tune and calibrate,
5000 measure; each seed has data and a base predictor of its own. All promise coverage of 90 % with confidence 95 %.

"ours" has no option set and chooses itself how many points tune, and whether the base predictor is left as it is. All
other methods use the paper's score, |y - f(x)| / u(x; theta) with f fixed, but for "head and scale" (`tune = both`),
which tunes f too. The learned baseline and the paper's method are shown by the better of two settings for each of the
two measures, the paper's (log radius) and ours (width); where they differ, both are named. The paper's own
optimizer ran with fewer steps than the paper's 7 x 2000 (see `steps` in the JSON file), at split 0.5. "not possible":
the bound allows no finite threshold at so few points, or leaves no level a budget.
"""


def _cell(runs: Sequence[Run], method: str, n: int, split: float) -> str:
    """Width and log radius, each by the settings that gave the smaller one."""
    width = best(runs, method, n=n, split=split)
    radius = best(runs, method, "log_radius", n=n, split=split)
    if width is None or radius is None:
        return "not possible"
    settings = [one.settings for one in (width, radius) if one.settings]
    told = f" ({', '.join(dict.fromkeys(settings))})" if settings else ""
    return f"{width.size:.2f} / {radius.log_radius:.2f}{told}"


def _bands(bands: dict[str, Any]) -> list[Plot]:
    x, points = bands["x"], bands["points"]
    found = dict(bands["bands"])
    if bands["paper"] is not None:
        found["PAC-Bayes, the paper's bound"] = bands["paper"]
    colours = {name: COLOURS[method][0] for method, name in NAMES.items()}
    colours |= {"ours": COLOURS["ours"][0], "learned, Vovk 2b": COLOURS["learned_2b"][0]}
    plots = []
    for name, (lower, upper) in found.items():
        width = mean(b - a for a, b in zip(lower, upper, strict=True))
        plot = Plot(
            f"{name}, N = {bands['n']}",
            f"Mean width {width:.2f} over the inputs.",
            f"x (N = {bands['n']}, mean width {width:.2f})",
            "y",
            (-1.0, 1.0),
            extent(points[1], margin=0.2),
            width=440,
        )
        plot.band(x, lower, upper, colours[name], name)
        plot.points(points[0], points[1], GREY, radius=1.2)
        plots.append(plot)
    return plots


def _by_tenth(runs: Sequence[Run], n: int, split: float) -> Plot:
    methods = ("standard_2b", "learned_2b", "paper", "drawn", "ours")
    lines = group_coverage(runs, methods, n=n, split=split)
    centres = [-0.9 + 0.2 * place for place in range(10)]
    plot = Plot(
        f"Coverage over x at N = {n}",
        "; ".join(f"{NAMES[m]}: " + ", ".join(f"{v:.2f}" for v in line) for m, line in lines.items()),
        "x",
        "coverage",
        (-1.0, 1.0),
        extent([v for line in lines.values() for v in line], include=(1 - ALPHA,)),
        height=340,
        legend_rows=2,
    )
    for method, line in lines.items():
        plot.line(centres, line, COLOURS[method][0], NAMES[method], COLOURS[method][1])
    plot.level(1 - ALPHA, "promised on average")
    return plot
