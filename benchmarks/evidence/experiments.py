"""The experiments by name: what each needs, runs and reports, and how it is written down."""

import importlib.metadata
import json
import os
import platform
import re
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import torch

from benchmarks.evidence import (
    by_group,
    mnist,
    mnist_report,
    peers,
    peers_report,
    promises,
    promises_report,
    reference,
    steps,
    steps_report,
    tables,
    tabular,
    tabular_report,
    theory,
    toy,
    toy_report,
)
from benchmarks.evidence.learning_problem import ALPHA, DELTA
from benchmarks.evidence.mnist_data import EPOCHS, LONGER, base_figures, corrupted_mnist
from benchmarks.evidence.summary import NAMES
from benchmarks.evidence.sweep import Cell, Swept, Work, finished, sweep
from benchmarks.reference_data import FILES
from certiset.service.demo.mnist import download_mnist

_DIGITS = 5
WORK = "work"
"""the folder beside the results in which data and unfinished sweeps are kept"""


@dataclass(frozen=True)
class Order:
    """What a user asks for."""

    data: tuple[Path, ...]
    """folders in which data may be"""
    output: Path
    quick: bool
    jobs: int
    alone: bool = True
    """whether one experiment was asked for by name, so that a data folder without its files is a mistake"""
    stream: TextIO = sys.stderr
    finished: bool = False
    """whether to write down what was run before, and run nothing"""

    @property
    def kept(self) -> Path:
        return self.output / WORK

    @property
    def pages(self) -> Path:
        """Where pages and figures go."""
        return self.output / "quick" if self.quick else self.output

    def folder_with(self, pattern: str) -> Path | None:
        """The first of the data folders that has such a file, or the last if there should be one."""
        found = next((folder for folder in self.data if any(folder.glob(pattern))), None)
        return found or (self.data[-1] if self.data and self.alone else None)


@dataclass(frozen=True)
class Experiment:
    title: str
    report: Callable[[dict[str, Any], Path], str]
    cells: Callable[[bool], list[Cell]] | None = None
    work: Work | None = None
    prepare: Callable[[Order], dict[str, Any]] = lambda order: {}
    """fetches data before the runs; what it returns goes into the result"""
    levels: bool = True
    """whether all runs have the same alpha and delta"""


def _prepare_mnist(order: Order) -> dict[str, Any]:
    folder = order.folder_with("t10k-images-idx3-ubyte*") or download_mnist(order.kept)
    print("mnist: base models and corrupted images", file=order.stream, flush=True)
    files = {
        name: corrupted_mnist(folder, order.kept, epochs)
        for name, epochs in (("as measured", EPOCHS), ("trained for longer", LONGER))
    }
    slow = {"seeds": [0], "steps": mnist.QUICK_STEPS} if order.quick else {}
    slow = slow or {"seeds": list(mnist.PAPER_SEEDS), "steps": mnist.PAPER_STEPS}
    return {"base": {name: base_figures(file) for name, file in files.items()}, "paper": slow}


def _prepare_toy(order: Order) -> dict[str, Any]:
    return {"bands": [toy.bands(n) for n in toy.BAND_SIZES]}


def _prepare_reference(order: Order) -> dict[str, Any]:
    reference.keep(order.folder_with(FILES[0]), order.kept)
    return {}


def _prepare_tabular(order: Order) -> dict[str, Any]:
    tables.fetch(order.kept)
    return {"data": {start: next(order.kept.glob(f"{start}-*.whl")).name for start in tables.PACKAGES}}


def _prepare_peers(order: Order) -> dict[str, Any]:
    tables.fetch(order.kept)
    print("peers: an environment for each library", file=order.stream, flush=True)
    return {"peers": peers.prepare(order.kept)}


EXPERIMENTS = {
    "theory": Experiment("The budgets of the bounds", theory.report),
    "toy": Experiment("Toy regression", toy_report.report, toy.cells, toy.work, _prepare_toy),
    "mnist": Experiment("Corrupted MNIST", mnist_report.report, mnist.cells, mnist.work, _prepare_mnist),
    "tabular": Experiment("Tables", tabular_report.report, tabular.cells, tabular.work, _prepare_tabular),
    "by_group": Experiment("By group", by_group.report, by_group.cells, by_group.work, _prepare_tabular),
    "steps": Experiment("Where a posterior step pays", steps_report.report, steps.cells, steps.work),
    "peers": Experiment("Beside other libraries", peers_report.report, peers.cells, peers.work, _prepare_peers),
    "promises": Experiment(
        "Every promise, simulated", promises_report.report, promises.cells, promises.work, levels=False
    ),
    "reference": Experiment("Like for like", reference.report, reference.cells, reference.work, _prepare_reference),
}


def reproduce(name: str, order: Order) -> dict[str, Any]:
    """Runs what is not done yet of one experiment, and writes its JSON, its page and its figures."""
    experiment = EXPERIMENTS[name]
    start, threads = time.monotonic(), torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        extra = experiment.prepare(order)
    finally:
        torch.set_num_threads(threads)
    label = f"{name}-quick" if order.quick else name
    if experiment.cells is None or experiment.work is None:
        swept = Swept(theory.measure(order.quick), 0.0)
    elif order.finished:
        swept = finished(label, experiment.cells(order.quick), order.kept)
    else:
        swept = sweep(label, experiment.cells(order.quick), experiment.work, order.kept, order.jobs, order.stream)
    runs = swept.runs
    result = {
        "experiment": name,
        "command": f"certiset reproduce {name}{' --quick' if order.quick else ''}",
        "quick": order.quick,
        **({"alpha": ALPHA, "delta": DELTA} if experiment.levels else {}),
        "seeds": sorted({run["seed"] for run in runs if "seed" in run}),
        "cpu_seconds": swept.cpu_seconds,
        "wall_seconds_of_the_last_start": time.monotonic() - start,
        "machine": {"cores": os.cpu_count(), "processor": platform.machine(), "jobs": order.jobs, "device": "cpu"},
        "versions": versions(),
        **({"missing": swept.missing} if swept.missing else {}),
        **extra,
        "runs": runs,
    }
    write(label, _rounded(result), order)
    return result


def write(label: str, result: dict[str, Any], order: Order) -> None:
    """The JSON file with one run per line, and the page that is made of it."""
    head = json.dumps({key: value for key, value in result.items() if key != "runs"}, indent=1).removesuffix("\n}")
    lines = ",\n".join(json.dumps(run) for run in result["runs"])
    _replace(order.output / f"{label}.json", f'{head},\n "runs": [\n{lines}\n]\n}}\n')
    _replace(order.pages / f"{result['experiment']}.md", page(result, order.pages))


def page(result: dict[str, Any], folder: Path) -> str:
    """Markdown made of what was measured alone; its figures are drawn in the folder."""
    experiment = EXPERIMENTS[result["experiment"]]
    text = f"# {experiment.title}\n\n{_origin(result)}\n{experiment.report(result, folder)}"
    return text.rstrip() + "\n"


def versions() -> dict[str, str]:
    names: Iterable[str] = ("certiset", "numpy", "scipy", "torch")
    return {"python": platform.python_version()} | {name: importlib.metadata.version(name) for name in names}


def _origin(result: dict[str, Any]) -> str:
    seeds = f", seeds {', '.join(map(str, result['seeds']))}" if result["seeds"] and len(result["seeds"]) < 10 else ""
    seeds = seeds or (f", {len(result['seeds'])} seeds" if result["seeds"] else "")
    spent = f", {result['cpu_seconds'] / 60:.0f} CPU minutes" if result["cpu_seconds"] >= 60 else ""
    with_ = ", ".join(f"{name} {version}" for name, version in result["versions"].items())
    levels = f" alpha = {ALPHA:g}, delta = {DELTA:g}." if EXPERIMENTS[result["experiment"]].levels else ""
    return f"`{result['command']}`{seeds}{spent}; {with_}.{levels}\n{_kept(result['runs'])}{_missing(result)}"


def _missing(result: dict[str, Any]) -> str:
    """What the sweep would have run and has not."""
    missing: dict[str, int] = result.get("missing", {})
    if not missing:
        return ""
    told = ", ".join(f"{count} of part {part}" for part, count in missing.items())
    return (
        f"\n**Unfinished**: {sum(missing.values())} cells have not been run ({told}), and are left out of all means.\n"
    )


def _kept(runs: list[dict[str, Any]]) -> str:
    """Which of the runs are older than the others."""
    older: dict[str, list[dict[str, Any]]] = {}
    for run in runs:
        if "kept_from" in run:
            older.setdefault(run["kept_from"], []).append(run)
    if not older:
        return ""
    told = []
    for origin, kept in older.items():
        names = dict.fromkeys(
            re.sub("_(paper|tuned|dropout)$", "", run.get("method", run.get("family", ""))) for run in kept
        )
        methods = dict.fromkeys(NAMES.get(name, name.replace("_", " ")) for name in names)
        told.append(f"{len(kept)} by {origin} ({'; '.join(methods)})")
    doubt = ""
    if any("method" in run for run in runs):
        doubt = "; run again, single runs of rivals that were tuned for size came out up to 6 % larger or smaller"
    return f"\nOf the {len(runs)} runs {' and '.join(told)} were made earlier and kept{doubt}. All others are new.\n"


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}")
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    return [_rounded(one) for one in value] if isinstance(value, list | tuple) else value


def _replace(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(f".{file.name}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(file)
