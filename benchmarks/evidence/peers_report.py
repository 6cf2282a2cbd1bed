"""What other libraries and ours did on the same points, and where ours loses."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median, stdev
from typing import Any

from benchmarks.evidence.learning_problem import ALPHA, DELTA
from benchmarks.evidence.peers.measured import MARGINAL, PAC
from benchmarks.evidence.peers.recipes import PROBLEMS, RECIPES
from benchmarks.evidence.peers.splits import N
from benchmarks.evidence.summary import Run, chosen, table
from benchmarks.evidence.tabular import TRAINING

OURS = "certiset"
_HEAD = ["library", "lines", "mean size", "coverage", "splits below 90 %", "calibration, CPU s", "1 row, µs"]
_HEAD += ["10,000 rows, µs per row"]


@dataclass(frozen=True)
class Peer:
    """One library on one problem under one promise, over all splits."""

    name: str
    lines: int
    size: float
    error: float
    coverage: float
    below: int
    splits: int
    seconds: float
    row: float
    row_beyond: float
    batch: float
    batch_beyond: float

    @property
    def ours(self) -> bool:
        return self.name.startswith(OURS)


def peers(runs: Sequence[Run], problem: str, promise: str) -> list[Peer]:
    """In the order of the recipes; times are medians, as other work on the machine only makes them longer."""
    found = []
    for name in RECIPES:
        mine = chosen(runs, part=problem, method=name, promise=promise)
        if not mine:
            continue
        sizes = [run["size"] for run in mine]
        found.append(
            Peer(
                name,
                mine[0]["lines"],
                mean(sizes),
                stdev(sizes) / len(sizes) ** 0.5 if len(sizes) > 1 else 0.0,
                mean(run["coverage"] for run in mine),
                sum(run["coverage"] < 1 - ALPHA for run in mine),
                len(mine),
                median(run["calibration_seconds"] for run in mine),
                median(run["row_us"] for run in mine),
                median(run["row_us"] - run["model_row_us"] for run in mine),
                median(run["batch_us"] for run in mine),
                median(run["batch_us"] - run["model_batch_us"] for run in mine),
            )
        )
    return found


def report(result: dict[str, Any], folder: Path) -> str:
    parts = [_INTRODUCTION, _versions(result["peers"])]
    for problem, title in PROBLEMS.items():
        parts.append(f"## {title}\n")
        if not chosen(result["runs"], part=problem):
            parts.append("Not run yet.\n")
            continue
        for promise, said in _PROMISES.items():
            rows = [_row(one) for one in peers(result["runs"], problem, promise)]
            parts.append(f"{said}\n\n{table(_HEAD, rows)}")
    parts.append("## Where certiset loses\n\n" + _list(_losses(result["runs"])))
    parts.append("## Where it wins\n\n" + _list(_wins(result["runs"])))
    parts.append("## The code that was counted and timed\n")
    for problem in PROBLEMS:
        for name, recipes in RECIPES.items():
            if problem in recipes:
                parts.append(f"{name}, {problem}:\n\n```text\n{recipes[problem].code(PAC).text}```\n")
    return "\n".join(parts)


def _row(one: Peer) -> list[str]:
    return [
        f"**{one.name}**" if one.ours else one.name,
        str(one.lines),
        f"{one.size:.3f} ± {one.error:.3f}",
        f"{one.coverage:.3f}",
        f"{one.below} of {one.splits}",
        f"{one.seconds:.3f}",
        f"{one.row:,.0f} ({one.row_beyond:,.0f})",
        f"{one.batch:.2f} ({one.batch_beyond:.2f})",
    ]


_MEASURES: dict[str, tuple[Callable[[Peer], float], str]] = {
    "size": (lambda one: one.size, "{:.3f}"),
    "lines": (lambda one: one.lines, "{:.0f}"),
    "CPU seconds to calibrate": (lambda one: one.seconds, "{:.3f}"),
    "microseconds beyond the model for one row": (lambda one: one.row_beyond, "{:.0f}"),
    "microseconds beyond the model for each of 10,000 rows": (lambda one: one.batch_beyond, "{:.2f}"),
}


def _compared(runs: Sequence[Run]) -> Iterator[tuple[str, str, Peer, list[Peer]]]:
    """Of each problem and measure, under the same promise: ours with no option set, and the others."""
    for problem in PROBLEMS:
        there = peers(runs, problem, PAC)
        mine = [one for one in there if one.name == OURS]
        others = [one for one in there if not one.ours]
        if mine and others:
            yield from ((problem, measure, mine[0], others) for measure in _MEASURES)


def _losses(runs: Sequence[Run]) -> list[str]:
    """Every library that does better than ours in something."""
    found = []
    for problem, measure, mine, others in _compared(runs):
        value, shown = _MEASURES[measure]
        better = sorted((one for one in others if value(one) < value(mine)), key=value)
        if better:
            theirs = ", ".join(f"{one.name} {shown.format(value(one))}" for one in better)
            found.append(f"{problem}, {measure}: certiset {shown.format(value(mine))}, {theirs}.")
    return found


def _wins(runs: Sequence[Run]) -> list[str]:
    found = []
    for problem, measure, mine, others in _compared(runs):
        value, shown = _MEASURES[measure]
        best = min(others, key=value)
        if value(mine) < value(best):
            own, theirs = (shown.format(value(one)) for one in (mine, best))
            found.append(f"{problem}, {measure}: certiset {own}, the best of the others ({best.name}) {theirs}.")
    return found


def _list(lines: Sequence[str]) -> str:
    return "".join(f"- {line}\n" for line in lines) or "Nowhere in what was measured.\n"


def _versions(found: dict[str, str]) -> str:
    return f"Libraries: {'; '.join(f'{name} {version}' for name, version in found.items())}.\n"


_PROMISES = {
    MARGINAL: f"Their own promise: {1 - ALPHA:.0%} on average over calibration sets. certiset has no such promise: one "
    "calibration set is all that a user has, and with up to half of them coverage is below.",
    PAC: f"The promise of certiset: at least {1 - ALPHA:.0%} with this calibration set, but for a chance of {DELTA:g} "
    "that it was an unlucky one. The others get there by hand, with the exact law of coverage (Vovk 2b).",
}
_INTRODUCTION = f"""A forest and a network, each trained on {TRAINING} rows, are calibrated on N = {N} others and asked
for sets of 10,000 more; again for every split, with the same rows and the same model for all libraries. All use the
score that is their default or their first example (one minus the probability; the absolute residual). "certiset" has no
option set, "certiset, standard" leaves the model as it is, "ties broken" also gives every label that ties with the
threshold a fixed place by a keyed hash, so that it enters or not. Lines that are needed around a forest or a network
before a library takes it are counted.

Lines are all that stand between a trained model and sets, imports included. Times are CPU time of one thread, medians
over splits, and include the model; in brackets, what is beyond the model's own time. Sizes and coverage are means on
test points, ± a standard error. Under the second promise a share of {DELTA:g} of the splits may be below, under the
first up to half. Splits share the rows of one table, and are not independent.

A forest's probabilities are few different numbers, so that many labels tie with the threshold, and all of them belong
to the set. puncc asks for p >= 1 - (1 - q), where q is the probability at the threshold: for half of the hundredths
below 0.35 rounding makes that false of p = q. Its sets are smaller by such labels, and its promise does not cover
what they miss.
"""
