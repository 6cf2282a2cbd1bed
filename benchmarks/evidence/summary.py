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

BY_SIZE = (*LEARNED_2B, "learned_2b_dropout")
"""every learned baseline that minimises size, as the paper's does"""

NAMES = {
    "standard_2a": "standard, Vovk 2a",
    "standard_2b": "standard, Vovk 2b",
    "learned_2a": "learned by size, Vovk 2a",
    "learned_2b": "learned by size, Vovk 2b",
    "learned_proper": "learned by a proper score, Vovk 2b",
    "paper": "PAC-Bayes, the paper's bound",
    "chernoff": "PAC-Bayes, chernoff",
    "drawn": "PAC-Bayes, per draw",
    "ours": "ours (auto)",
    "learned_2b_both": "learned by size, 2b, head and scale",
    "learned_proper_both": "learned by a proper score, 2b, head and scale",
}
SETTINGS: Mapping[str, Sequence[str]] = {"learned_2a": LEARNED_2A, "learned_2b": LEARNED_2B, "paper": PAPER}
"""methods that were run by several settings, of which the better counts"""
WITHOUT_SPLIT = ("standard_2a", "standard_2b", "ours", "drawn")
"""methods that are not told how many points tune: the same run counts at every split"""


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
    if method in WITHOUT_SPLIT:
        where.pop("split", None)
    means = [
        average(chosen(runs, method=name, **where), name.rpartition("_")[2] if method in SETTINGS else "")
        for name in SETTINGS.get(method, (method,))
    ]
    return smallest(means, measure)


def smallest(means: Iterable[Mean | None], measure: str = "size") -> Mean | None:
    """Of those that there are."""
    there = [one for one in means if one is not None]
    return min(there, key=lambda one: float(getattr(one, measure))) if there else None


def group_coverage(runs: Sequence[Run], methods: Sequence[str], **where: Any) -> dict[str, list[float]]:
    """For each method by its better settings: the coverage of each group of test points, mean over seeds."""
    answer = {}
    for method in methods:
        one = best(runs, method, **where)
        if one is not None:
            name = f"{method}_{one.settings}" if one.settings else method
            place = {key: value for key, value in where.items() if key != "split" or method not in WITHOUT_SPLIT}
            rows = [run["group_coverage"] for run in chosen(runs, method=name, **place)]
            answer[method] = [mean(values) for values in zip(*rows, strict=True)]
    return answer


def present(runs: Sequence[Run], methods: Sequence[str]) -> list[str]:
    """Those of the methods that were run at all."""
    there = {run["method"] for run in runs}
    return [method for method in methods if there & set(SETTINGS.get(method, (method,)))]


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


def strictest(runs: Sequence[Run], others: Sequence[str], splits: Sequence[float], n: int) -> Ratio | None:
    """The largest ratio of our size to theirs over all their settings and splits, each on the seeds that both have."""
    own = {run["seed"]: run["size"] for run in chosen(runs, method="ours", n=n)}
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
    return run["method"], run["n"], run["seed"], run.get("split")


@dataclass(frozen=True)
class Standing:
    """Ours beside the standard method at one N, on the same points."""

    n: int
    ours: Mean
    standard: Mean
    certified: float | None
    """certified / measured, where a size is certified"""
    fresh: float | None
    """the same with 10,000 fresh inputs"""
    learned_cpu: float | None
    """CPU seconds of a learned fit"""
    choices: Mapping[str, int]

    @property
    def ratio(self) -> float:
        return self.ours.size / self.standard.size


def standings(runs: Sequence[Run]) -> list[Standing]:
    """At every N at which ours was run."""
    found = []
    for n in sorted({run["n"] for run in chosen(runs, method="ours")}):
        mine = chosen(runs, method="ours", n=n)
        one, base = average(mine), best(runs, "standard_2b", n=n)
        assert one is not None
        assert base is not None
        fit_of_rival = average([run for run in chosen(runs, method="learned_proper", n=n) if "kept_from" not in run])
        found.append(
            Standing(
                n,
                one,
                base,
                _share(mine, "certified_size"),
                _share(mine, "fresh_size"),
                None if fit_of_rival is None else fit_of_rival.cpu_seconds,
                Counter(run["choice"] for run in mine),
            )
        )
    return found


def _share(runs: Sequence[Run], bound: str) -> float | None:
    """The mean bound over the mean size, on the runs that have one."""
    there = [run for run in runs if run.get(bound) is not None]
    return mean(run[bound] for run in there) / mean(run["size"] for run in there) if there else None


def standings_table(runs: Sequence[Run]) -> str:
    """Ours beside the standard method, how tightly its size is certified, and what it chose."""
    rows = []
    for one in standings(runs):
        told = "; ".join(f"{name}: {count}" for name, count in sorted(one.choices.items(), key=lambda pair: -pair[1]))
        rows.append(
            [
                str(one.n),
                str(one.ours.count),
                *[f"{mean_.size:.3g} ± {mean_.error:.2g}" for mean_ in (one.standard, one.ours)],
                f"**{one.ratio:.3f}**",
                _or_nothing(one.certified),
                _or_nothing(one.fresh),
                f"{one.ours.cpu_seconds:.1f}",
                "" if one.learned_cpu is None else f"{one.learned_cpu:.1f}",
                told,
            ]
        )
    head = ["N", "seeds", "standard, 2b", "ours", "ours / standard", "certified / measured", "with 10,000 fresh inputs"]
    return table([*head, "CPU s, ours", "CPU s, learned", "what ours chose: runs"], rows)


def _or_nothing(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def drawn_table(runs: Sequence[Run]) -> str:
    """What `pac_bayes` serves, and what it spent."""
    rows = []
    for n in sorted({run["n"] for run in chosen(runs, method="drawn")}):
        mine = chosen(runs, method="drawn", n=n)
        one = average(mine)
        assert one is not None
        members = " to ".join(dict.fromkeys(str(pick(run["members"] for run in mine)) for pick in (min, max)))
        spent, budget = (mean(run[name] for run in mine) for name in ("kl", "kl_budget"))
        rows.append([str(n), str(one.count), members, f"{spent:.2f}", f"{budget:.2f}", size_cell(one)])
    return table(["N", "runs", "distinct pairs", "KL, nats", "budget, nats", "mean size"], rows)


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
