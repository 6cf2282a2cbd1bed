"""What was aimed at for ours and what came out, from the stored results alone: ``python -m benchmarks.evidence.reach``.

The table stands in docs/results/README.md; a test sees to it that it is the one that the JSON files give.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.evidence.by_group import ratios
from benchmarks.evidence.mnist_data import LONGER
from benchmarks.evidence.peers.measured import PAC
from benchmarks.evidence.peers.recipes import PROBLEMS
from benchmarks.evidence.peers_report import OURS, peers
from benchmarks.evidence.summary import BY_SIZE, Run, Standing, average, chosen, standings, strictest, table
from benchmarks.reference_data import RESULTS

_BY_SIZE, _BY_PROPER, _ABOVE_STANDARD = 0.90, 0.98, 1.03
_LIKE_FOR_LIKE = {1000: 1.74, 2000: 1.38, 5000: 1.30}
_CERTIFIED = {1000: 1.30, 5000: 1.10}
_CERTIFIED_EARLY, _CERTIFIED_FRESH = 1.25, 1.05
_MEMBERS, _CPU_OF_LEARNED, _CPU_OF_IDENTITY = 32, 3.0, 1.0
_IDENTITY = ("letters_forest", "ground_boosting", "best_logits")
_FEWEST = 300
_POOL = "a pool of"


def reach(folder: Path = RESULTS) -> str:
    """Markdown: a line for each aim."""
    digits, toy, tables, reference = (_runs(folder, name) for name in ("mnist", "toy", "tabular", "reference"))
    rows = [
        _against_rival(digits, BY_SIZE, _BY_SIZE, "the strongest learned baseline by size, at its best split"),
        _against_rival(
            digits, ("learned_proper",), _BY_PROPER, "the learned baseline by cross-entropy, at its best split"
        ),
        _like_for_like(reference),
        _beside_standard({"MNIST": digits, "toy": toy} | _parts(tables)),
        _by_group(_runs(folder, "by_group")),
        *_certified({"MNIST": digits, "toy": toy} | _parts(tables)),
        _drawn({"MNIST": digits, "toy": toy}),
        *_cpu({"MNIST": digits, "toy": toy} | _parts(tables)),
        _beside_peers(_runs(folder, "peers")),
    ]
    return table(["aim", "came out"], rows)


def _runs(folder: Path, name: str) -> list[Run]:
    runs: list[Run] = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))["runs"]
    return [run for run in runs if run.get("epochs") != LONGER and run["part"] != "priors"]


def _parts(runs: Sequence[Run]) -> dict[str, list[Run]]:
    return {name: chosen(runs, part=name) for name in dict.fromkeys(run["part"] for run in runs)}


def _line(aim: str, came_out: str, misses: Sequence[str]) -> list[str]:
    return [aim, f"{came_out}: " + (f"**missed** at {', '.join(misses)}" if misses else "reached")]


def _against_rival(runs: Sequence[Run], rivals: Sequence[str], most: float, name: str) -> list[str]:
    splits = sorted({run["split"] for run in runs if "split" in run})
    sizes = sorted({run["n"] for run in runs if run["method"] in rivals})
    found = {n: one.ratio for n in sizes if (one := strictest(runs, rivals, splits, n)) is not None}
    told = " / ".join(f"{ratio:.2f}" for ratio in found.values())
    at = ", ".join(map(str, found))
    misses = [f"N = {n}" for n, ratio in found.items() if ratio > most]
    return _line(f"MNIST: at most {most:.2f} of {name}", f"{told} at N = {at}", misses)


def _like_for_like(runs: Sequence[Run]) -> list[str]:
    means = {n: average(chosen(runs, part="mnist", method="ours", n=n)) for n in _LIKE_FOR_LIKE}
    sizes = {n: one.size for n, one in means.items() if one is not None}
    misses = [f"N = {n}" for n, size in sizes.items() if size > _LIKE_FOR_LIKE[n]]
    aim = " / ".join(f"{most:.2f}" for most in _LIKE_FOR_LIKE.values())
    told = " / ".join(f"{size:.2f}" for size in sizes.values())
    return _line(f"like for like, MNIST N = 1000 / 2000 / 5000: at most {aim} labels", told, misses)


def _standings(problems: dict[str, list[Run]]) -> Iterator[tuple[str, Standing]]:
    for name, runs in problems.items():
        yield from ((f"{name.replace('_', ' ')}, N = {one.n}", one) for one in standings(runs) if one.n >= _FEWEST)


def _beside_standard(problems: dict[str, list[Run]]) -> list[str]:
    found = {name: one.ratio for name, one in _standings(problems)}
    misses = [f"{name} ({ratio:.3f})" for name, ratio in found.items() if ratio > _ABOVE_STANDARD]
    told = f"{min(found.values()):.2f} to {max(found.values()):.3f} in {len(found)} places"
    aim = f"at most {_ABOVE_STANDARD:.2f} of the standard method on every problem at every N from {_FEWEST}"
    return _line(aim, told, misses)


def _by_group(runs: list[Run]) -> list[str]:
    found = ratios(runs)
    shown = {f"{part.replace('_', ' ')}, {by}, N = {n}": ratio for (part, by, n), ratio in found.items()}
    misses = [f"{name} ({ratio:.3f})" for name, ratio in shown.items() if ratio > _ABOVE_STANDARD]
    mean = sum(found.values()) / len(found)
    told = f"{min(found.values()):.2f} to {max(found.values()):.3f} in {len(found)} places, {mean:.3f} on average"
    return _line(
        f"with a threshold for each group: at most {_ABOVE_STANDARD:.2f} of the standard method's", told, misses
    )


def _certified(problems: dict[str, list[Run]]) -> Iterator[list[str]]:
    """Pools and what stops early apart, over the runs of a problem at one N."""
    for n, most in _CERTIFIED.items():
        aim = f"certified at most {most:.2f} times the measured size at N = {n}, pools"
        yield _certified_line(aim, _pools(problems, n, True), most)
    aim = f"the same where ours stops early, N = 1000: at most {_CERTIFIED_EARLY:.2f}"
    yield _certified_line(aim, _pools(problems, 1000, False), _CERTIFIED_EARLY)
    fresh = {name: chosen(runs, method="ours") for name, runs in problems.items()}
    yield _certified_line(
        f"with 10,000 fresh inputs at most {_CERTIFIED_FRESH:.2f}", fresh, _CERTIFIED_FRESH, "fresh_size"
    )


def _pools(problems: dict[str, list[Run]], n: int, pools: bool) -> dict[str, list[Run]]:
    """Of our runs those that are a pool, or those that are not."""
    mine = {name: chosen(runs, method="ours", n=n) for name, runs in problems.items()}
    return {name: [run for run in runs if (_POOL in run["choice"]) == pools] for name, runs in mine.items()}


def _certified_line(aim: str, problems: dict[str, list[Run]], most: float, bound: str = "certified_size") -> list[str]:
    found = {}
    for name, runs in problems.items():
        there = [run for run in runs if run.get(bound) is not None]
        if there:
            found[name.replace("_", " ")] = sum(run[bound] for run in there) / sum(run["size"] for run in there)
    misses = [f"{name} ({ratio:.3f})" for name, ratio in found.items() if ratio > most]
    return _line(aim, ", ".join(f"{name} {ratio:.2f}" for name, ratio in found.items()) or "no such run", misses)


def _drawn(problems: dict[str, list[Run]]) -> list[str]:
    aim, told, misses = f"`pac_bayes` serves {_MEMBERS} distinct pairs", [], []
    for name, all_runs in problems.items():
        runs = chosen(all_runs, method="drawn")
        if not runs:
            misses.append(f"{name} (not run)")
            continue
        fewest = min(run["members"] for run in runs)
        told.append(f"{name}: at least {fewest} in {len(runs)} runs")
        misses += [f"{name} ({fewest})"] if fewest < _MEMBERS else []
    return _line(aim, "; ".join(told) or "not run", misses)


def _cpu(problems: dict[str, list[Run]]) -> Iterator[list[str]]:
    ratios = {
        name: one.ours.cpu_seconds / one.learned_cpu
        for name, one in _standings(problems)
        if one.learned_cpu is not None
    }
    misses = [f"{name} ({ratio:.1f})" for name, ratio in ratios.items() if ratio > _CPU_OF_LEARNED]
    told = f"{min(ratios.values()):.1f} to {max(ratios.values()):.1f}" if ratios else "not measured"
    yield _line(f"CPU of ours at most {_CPU_OF_LEARNED:g} times that of learned", told, misses)
    seconds = {
        name: one.cpu_seconds
        for name in _IDENTITY
        if name in problems and (one := average(chosen(problems[name], method="ours", n=1000))) is not None
    }
    slow = [name.replace("_", " ") for name, spent in seconds.items() if spent > _CPU_OF_IDENTITY]
    told = ", ".join(f"{name.replace('_', ' ')} {spent:.1f}" for name, spent in seconds.items())
    yield _line(f"identity heads with 1000 rows: at most {_CPU_OF_IDENTITY:g} CPU s", told, slow)


def _beside_peers(runs: Sequence[Run]) -> list[str]:
    """Sizes under the same promise, against the smallest of the other libraries."""
    told, misses = [], []
    for problem in PROBLEMS:
        sizes = {one.name: one.size for one in peers(runs, problem, PAC)}
        theirs = {name: size for name, size in sizes.items() if not name.startswith(OURS)}
        if OURS not in sizes or not theirs:
            misses.append(f"{problem} (not run)")
            continue
        best = min(theirs, key=theirs.__getitem__)
        told.append(f"{problem} {sizes[OURS]:.3f}, {best} {theirs[best]:.3f}")
        misses += [problem] if sizes[OURS] > theirs[best] else []
    return _line(
        "under the same promise, sets no larger than those of any other library", "; ".join(told) or "not run", misses
    )


def main() -> None:
    print(reach(), end="")


if __name__ == "__main__":
    main()
