"""From single runs to means: what tables and figures are made of."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, stdev
from typing import Any

from benchmarks.evidence.learning_problem import ALPHA

Run = dict[str, Any]
"""a cell and what one method gave there"""

LEARNED_2A = ("learned_2a_paper", "learned_2a_tuned")
LEARNED_2B = ("learned_2b_paper", "learned_2b_tuned")
PAPER = ("paper_paper", "paper_tuned")

NAMES = {
    "standard_2a": "standard, Vovk 2a",
    "standard_2b": "standard, Vovk 2b",
    "learned_2a": "learned, Vovk 2a",
    "learned_2b": "learned, Vovk 2b",
    "paper": "PAC-Bayes, the paper's bound",
    "chernoff": "PAC-Bayes, chernoff, always a step",
    "ours_posterior": "ours, posterior and chernoff",
    "ours": "ours, per draw",
    "learned_2b_both": "learned, 2b, head and scale",
    "ours_both": "ours, head and scale",
}
SETTINGS: Mapping[str, Sequence[str]] = {"learned_2a": LEARNED_2A, "learned_2b": LEARNED_2B, "paper": PAPER}
"""methods that were run by several settings, of which the better counts"""


@dataclass(frozen=True)
class Mean:
    """Of one method at one N and split, over seeds."""

    size: float
    error: float
    """standard error of the size"""
    coverage: float
    log_radius: float | None
    certified_size: float | None
    cpu_seconds: float
    count: int
    settings: str
    """which of the method's settings it is"""


def chosen(runs: Iterable[Run], **where: Any) -> list[Run]:
    return [run for run in runs if all(run.get(key) == value for key, value in where.items())]


def average(runs: Sequence[Run], settings: str = "") -> Mean | None:
    if not runs:
        return None
    sizes = [run["size"] for run in runs]
    radii = [run["log_radius"] for run in runs]
    certified = [run["certified_size"] for run in runs]
    return Mean(
        size=mean(sizes),
        error=stdev(sizes) / len(sizes) ** 0.5 if len(sizes) > 1 else 0.0,
        coverage=mean(run["coverage"] for run in runs),
        log_radius=None if None in radii else mean(radii),
        certified_size=None if None in certified else mean(certified),
        cpu_seconds=mean(run["cpu_seconds"] for run in runs),
        count=len(runs),
        settings=settings,
    )


def best(runs: Sequence[Run], method: str, measure: str = "size", **where: Any) -> Mean | None:
    """The mean of a method; of one with several settings, by that which did better on test points."""
    means = [
        average(chosen(runs, method=name, **where), name.rpartition("_")[2] if method in SETTINGS else "")
        for name in SETTINGS.get(method, (method,))
    ]
    return smallest(means, measure)


def smallest(means: Iterable[Mean | None], measure: str = "size") -> Mean | None:
    """Of those that there are."""
    there = [one for one in means if one is not None]
    return min(there, key=lambda one: float(getattr(one, measure))) if there else None


def best_split(runs: Sequence[Run], method: str, splits: Sequence[float], **where: Any) -> tuple[float, Mean] | None:
    found = [(split, best(runs, method, split=split, **where)) for split in splits]
    there = [(split, one) for split, one in found if one is not None]
    return min(there, key=lambda pair: pair[1].size) if there else None


def group_coverage(runs: Sequence[Run], methods: Sequence[str], **where: Any) -> dict[str, list[float]]:
    """For each method by its better settings: the coverage of each group of test points, mean over seeds."""
    answer = {}
    for method in methods:
        one = best(runs, method, **where)
        if one is not None:
            name = f"{method}_{one.settings}" if one.settings else method
            rows = [run["group_coverage"] for run in chosen(runs, method=name, **where)]
            answer[method] = [mean(values) for values in zip(*rows, strict=True)]
    return answer


def size_cell(one: Mean) -> str:
    error = f" ± {one.error:.2f}" if one.count > 1 else ""
    return f"{one.size:.2f}{error}" + (f" ({one.settings})" if one.settings else "")


@dataclass(frozen=True)
class Ratio:
    """How a method stands to the best of some others, which may choose their settings and split."""

    ratio: float
    size: float
    settings: str
    split: float


def strictest(
    runs: Sequence[Run], mine: str, my_split: float, others: Sequence[str], splits: Sequence[float], n: int
) -> Ratio | None:
    """The largest ratio of sizes over all settings and splits of the others, each on the seeds that both have."""
    own = {run["seed"]: run["size"] for run in chosen(runs, method=mine, n=n, split=my_split)}
    found = []
    for method in others:
        for split in splits:
            theirs = {run["seed"]: run["size"] for run in chosen(runs, method=method, n=n, split=split)}
            shared = sorted(set(own) & set(theirs))
            if shared:
                size = mean(theirs[seed] for seed in shared)
                ratio = mean(own[seed] for seed in shared) / size
                found.append(Ratio(ratio, size, method.rpartition("_")[2], split))
    return max(found, key=lambda one: one.ratio) if found else None


def missed(runs: Sequence[Run], methods: Sequence[str]) -> dict[str, tuple[int, int]]:
    """For each method: in how many runs fewer than 1 - alpha of the test points were covered, and of how many."""
    answer = {}
    for method in methods:
        mine = {_identity(run): run for run in runs if run["method"] in SETTINGS.get(method, (method,))}
        if mine:
            answer[method] = (sum(run["coverage"] < 1 - ALPHA for run in mine.values()), len(mine))
    return answer


def _identity(run: Run) -> tuple[Any, ...]:
    """The standard method has no split: its runs at several splits are one."""
    split = None if run["method"].startswith("standard") else run.get("split")
    return run["method"], run["n"], run["seed"], split


def choices_table(runs: Sequence[Run], methods: Sequence[str]) -> str:
    """How often our fits took which of their choices."""
    rows = []
    for method in methods:
        counts = Counter(run["choice"].partition(" at ")[0] for run in chosen(runs, method=method))
        told = "; ".join(f"{name}: {count}" for name, count in counts.most_common())
        if told:
            rows.append([NAMES[method], told])
    return "What the fits chose, over all runs:\n\n" + table(["", "choice: runs"], rows)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Markdown."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def size_rows(
    runs: Sequence[Run], methods: Sequence[str], sizes: Sequence[int], show: Callable[[Mean], str], **where: Any
) -> list[list[str]]:
    """A row for each method, a column for each N."""
    rows = []
    for method in methods:
        cells = [best(runs, method, n=n, **where) for n in sizes]
        rows.append([NAMES[method], *["not possible" if one is None else show(one) for one in cells]])
    return rows


def coverage_text(runs: Sequence[Run], methods: Sequence[str], delta: float) -> str:
    rows = [
        [NAMES.get(method, method), f"{few} of {all_}", f"{few / all_:.2f}"]
        for method, (few, all_) in missed(runs, methods).items()
    ]
    return (
        f"Runs in which fewer than {1 - ALPHA:.0%} of the test points were covered. The promise allows a share of "
        f"{delta:g} whose true coverage is below; test points are finitely many, so a few more may look as if it were. "
        "Runs of one seed share points, so they are not independent of each other.\n\n"
        + table(["method", "runs below", "share"], rows)
    )
