"""A threshold for each group, by the default method and by the standard one: whether revealing rows pays there.

Groups are parts of the range of the first input, cut where equally many test points lie on either side, so that they do
not depend on the rows that calibrate; or every class is one.
"""

import time
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.evidence.learning_problem import ALPHA, DELTA, LearningProblem
from benchmarks.evidence.summary import Run, average, chosen, table
from benchmarks.evidence.sweep import Cell
from benchmarks.evidence.tabular import PROBLEMS
from certiset.core.fit import fit

PARTS = ("letters", "diamonds", "letters_forest", "ground_boosting", "digits_shifted", "best_logits")
SIZES, GROUPS, SEEDS = (1000, 3000), (2, 5), tuple(range(8))
BY_CLASS = "ground_boosting"
"""the problem on which every class is a group, too: six of them"""
METHODS = {"standard": "standard, by group", "auto": "ours (auto), by group"}


@dataclass(frozen=True)
class Grouped:
    """One method on one problem, over all test points."""

    method: str
    size: float
    coverage: float
    worst_coverage: float
    """of the group that was covered least"""
    largest_size: float
    """mean size of the group whose sets are largest"""
    revealed: int
    """rows that did not calibrate"""
    choice: str
    cpu_seconds: float


def cells(quick: bool) -> list[Cell]:
    sizes, seeds = ((1000,), (0,)) if quick else (SIZES, SEEDS)
    asked: list[tuple[str, int | str]] = [(name, count) for name in PARTS for count in GROUPS]
    asked.append((BY_CLASS, "class"))
    return [{"part": name, "groups": by, "n": n, "seed": seed} for name, by in asked for n in sizes for seed in seeds]


def work(cell: Cell, kept: Path) -> list[Grouped]:
    problem = PROBLEMS[cell["part"]].make(kept, cell["n"], cell["seed"])
    return [_measured(problem, cell["groups"], cell["seed"], method) for method in METHODS]


def _measured(problem: LearningProblem, by: int | str, seed: int, method: str) -> Grouped:
    cuts = None if isinstance(by, str) else _cuts(problem.test_x, by)
    given: Any = by if cuts is None else _group(problem.x, cuts)
    asked = None if cuts is None else _group(problem.test_x, cuts)
    start = time.process_time()
    asked_for: dict[str, Any] = {"method": method, "groups": given, "seed": seed, "allow_missing_classes": True}
    predictor = fit(problem.model, problem.x, problem.y, alpha=ALPHA, delta=DELTA, **asked_for)
    spent = time.process_time() - start
    sets, truths = predictor.predict_set(problem.test_x, 0, groups=asked), problem.test_y.reshape(-1)
    sizes, covered = np.asarray(sets.size, dtype=np.float64), np.asarray(sets.contains(truths))
    of_row = truths if asked is None else asked
    parts = [of_row == one for one in np.unique(of_row)]
    selection, n = predictor.certificate.selection, predictor.certificate.coverage.n
    return Grouped(
        method=method,
        size=float(sizes.mean()),
        coverage=float(covered.mean()),
        worst_coverage=min(float(covered[part].mean()) for part in parts),
        largest_size=max(float(sizes[part].mean()) for part in parts),
        revealed=len(problem.x) - n,
        choice="as given" if selection is None else selection.taken.partition(",")[0],
        cpu_seconds=spent,
    )


def _cuts(x: NDArray[Any], groups: int) -> NDArray[np.float64]:
    return np.quantile(x.reshape(len(x), -1)[:, 0], np.arange(1, groups) / groups)


def _group(x: NDArray[Any], cuts: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.searchsorted(cuts, x.reshape(len(x), -1)[:, 0])


def report(result: dict[str, Any], folder: Path) -> str:
    return f"{_INTRODUCTION}\n{comparison(result['runs'])}"


def ratios(runs: list[Run]) -> dict[tuple[str, str, int], float]:
    """Of ours to the standard method, for each problem, kind of groups and N: of the mean sizes over seeds."""
    found = {}
    for part, by, n in dict.fromkeys((run["part"], str(run["groups"]), run["n"]) for run in runs):
        there = [run for run in chosen(runs, part=part, n=n) if str(run["groups"]) == by]
        ours, others = (mean(run["size"] for run in chosen(there, method=method)) for method in ("auto", "standard"))
        found[part, by, n] = ours / others
    return found


def comparison(runs: list[Run]) -> str:
    rows = []
    for (part, by, n), ratio in ratios(runs).items():
        there = [run for run in chosen(runs, part=part, n=n) if str(run["groups"]) == by]
        mine, others = chosen(there, method="auto"), chosen(there, method="standard")
        shown = [
            average([{**run, "log_radius": None, "certified_size": None} for run in ones]) for ones in (others, mine)
        ]
        sizes = [f"{one.size:.3f} ± {one.error:.3f}" for one in shown if one is not None]
        choices = sorted({run["choice"] for run in mine})
        below = sum(run["worst_coverage"] < 1 - ALPHA for run in mine)
        revealed = f"{min(run['revealed'] for run in mine)} to {max(run['revealed'] for run in mine)}"
        rows.append(
            [
                part.replace("_", " "),
                by,
                str(n),
                *sizes,
                f"**{ratio:.3f}**",
                revealed,
                f"{below} of {len(mine)}",
                ", ".join(choices),
            ]
        )
    head = ["problem", "groups", "N", "standard by group", "ours by group", "ours / standard", "rows revealed"]
    return table([*head, "fits with a group below 90 % on test points", "what ours chose"], rows)


_INTRODUCTION = """Every group has a threshold of its own, and all of them keep alpha at once. Groups are equal parts of
the first input's range, cut by test points, or the classes. The standard method calibrates on all rows; ours may reveal
some to choose, and where groups are so small that this would cost their sets too much, it reveals none. Means over
seeds, ± a standard error. Test points are finitely many, so that a group may look as if it were below 90 % though it is
not.
"""
