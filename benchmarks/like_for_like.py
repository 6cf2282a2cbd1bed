"""Our fits on exactly the data and base models on which the authors' code was measured, in one table with it.

    certiset reproduce reference --data FOLDER

MNIST: frozen features of the corrupted test split, N points of which half tunes (for the authors' code the first half,
for ours a random one) and half calibrates, 1000 test images, seeds 2023 and 2024. Toy: 500 or 5000 points and 5000 test
points. alpha = 0.1 and delta = 0.05 everywhere.
"""

import importlib.metadata
import json
import platform
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import torch

from benchmarks.reference_data import Problem, mnist, reference_folder, toy
from core.fit import fit

MNIST_SIZES, MNIST_SEEDS = (1000, 2000, 5000), (2023, 2024)
TOY_SIZES, TOY_SEEDS = (500, 5000), (0, 1, 2)
TOY_SPLIT = 0.3
"""share that tunes; the best of 0.2 to 0.5 on fresh points of the same law, not on these"""
ALPHA, DELTA = 0.1, 0.05

Say = Callable[[str], None]


@dataclass(frozen=True)
class Run:
    problem: str
    n: int
    seed: int
    """of the reference's permutation (MNIST), or of our fit (toy)"""
    size: float
    """mean on the test points: labels, or width"""
    log_radius: float | None
    coverage: float
    certified_size: float | None
    choice: str
    cpu_seconds: float


@dataclass(frozen=True)
class Authors:
    """What the authors' own code gave on the same points."""

    method: str
    mnist: dict[int, float]
    """N: mean size over the two seeds, or of the one that was run"""
    toy: dict[int, tuple[float, float]]
    """N: width and mean log radius"""


AUTHORS = (
    Authors("standard, Vovk 2b", {1000: 2.32, 2000: 2.21, 5000: 2.22}, {500: (1.383, -0.369), 5000: (1.337, -0.403)}),
    Authors("learned, Vovk 2b", {1000: 2.64, 2000: 1.78, 5000: 1.71}, {500: (1.174, -0.728), 5000: (1.094, -0.770)}),
    Authors("PAC-Bayes", {1000: 3.02, 2000: 2.28, 5000: 1.85}, {500: (1.410, -0.555), 5000: (1.150, -0.705)}),
)


def measure(data: Path, say: Say) -> dict[str, Any]:
    """Runs everything and returns it, with what is needed to do it again."""
    folder = reference_folder(data)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    runs: list[Run] = []
    try:
        for n in MNIST_SIZES:
            for seed in MNIST_SEEDS:
                runs.append(_run("mnist", mnist(n, seed, folder), n, seed, say, seed=0))
        for n in TOY_SIZES:
            for seed in TOY_SEEDS:
                options: dict[str, Any] = {"score": {"kind": "scaled_residual"}, "prior": {"split": TOY_SPLIT}}
                runs.append(_run("toy", toy(n, folder), n, seed, say, seed=seed, **options))
    finally:
        torch.set_num_threads(threads)
    return {
        "command": "certiset reproduce reference --data FOLDER",
        "data": sorted(file.name for file in folder.glob("*.npz")),
        "versions": {
            "python": platform.python_version(),
            **{name: importlib.metadata.version(name) for name in ("certiset", "numpy", "torch")},
        },
        "alpha": ALPHA,
        "delta": DELTA,
        "runs": [asdict(run) for run in runs],
    }


def _run(problem: str, points: Problem, n: int, place: int, say: Say, **options: Any) -> Run:
    begin = time.process_time()
    predictor = fit(points.model, points.x, points.y, alpha=ALPHA, delta=DELTA, **options)
    seconds = time.process_time() - begin
    certificate = predictor.certificate
    sets = predictor.predict_set(points.test_x, generator=np.random.default_rng(place))
    sizes = np.asarray(sets.size)
    run = Run(
        problem=problem,
        n=n,
        seed=place,
        size=float(sizes.mean()),
        log_radius=float(np.log(sizes / 2).mean()) if problem == "toy" else None,
        coverage=float(sets.contains(points.test_y.reshape(len(sizes))).mean()),
        certified_size=certificate.efficiency.upper_bound,
        choice=certificate.coverage.union.choices[certificate.coverage.union.taken],
        cpu_seconds=seconds,
    )
    radius = "" if run.log_radius is None else f", log radius {run.log_radius:.3f}"
    found = f"size {run.size:.3f}{radius}, coverage {run.coverage:.3f}, {seconds:.1f} CPU s"
    say(f"{problem} N = {n}, seed {place}: {found}")
    return run


def table(result: dict[str, Any]) -> str:
    """Markdown: the authors' code and ours, on the same points."""
    lines = [
        "| | MNIST N = 1000 | N = 2000 | N = 5000 | toy N = 500: width / log radius | N = 5000 |",
        "|---|---|---|---|---|---|",
    ]
    for authors in AUTHORS:
        cells = [f"{authors.mnist[n]:.2f}" for n in MNIST_SIZES]
        cells += [f"{authors.toy[n][0]:.3f} / {authors.toy[n][1]:.3f}" for n in TOY_SIZES]
        lines.append(f"| authors' code: {authors.method} | {' | '.join(cells)} |")
    runs = [Run(**run) for run in result["runs"]]
    sizes = {
        key: [run for run in runs if (run.problem, run.n) == key] for key in {(run.problem, run.n) for run in runs}
    }
    ours = [f"**{mean(run.size for run in sizes['mnist', n]):.2f}**" for n in MNIST_SIZES]
    for n in TOY_SIZES:
        width, radius = (mean(getattr(run, name) for run in sizes["toy", n]) for name in ("size", "log_radius"))
        ours.append(f"**{width:.3f} / {radius:.3f}**")
    order = [("mnist", n) for n in MNIST_SIZES] + [("toy", n) for n in TOY_SIZES]
    covered = [f"{mean(run.coverage for run in sizes[key]):.3f}" for key in order]
    certified = [f"{mean(run.certified_size or float('nan') for run in sizes[key]):.2f}" for key in order]
    spent = [f"{mean(run.cpu_seconds for run in sizes[key]):.1f}" for key in order]
    lines.append(f"| ours | {' | '.join(ours)} |")
    lines.append(f"| ours: coverage on test points | {' | '.join(covered)} |")
    lines.append(f"| ours: certified mean size | {' | '.join(certified)} |")
    lines.append(f"| ours: CPU seconds a fit | {' | '.join(spent)} |")
    return "\n".join(lines) + "\n"


def write(result: dict[str, Any], folder: Path) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    data, text = folder / "reference.json", folder / "reference.md"
    data.write_text(json.dumps(result, indent=1) + "\n")
    text.write_text(f"# Like for like\n\n`{result['command']}`\n\n{table(result)}")
    return [data, text]
