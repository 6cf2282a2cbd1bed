"""The paper's experiment on corrupted MNIST, with every baseline, an ablation, and coverage by class."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.evidence.baselines import Baseline, dropout_settings, paper_settings, tuned_settings
from benchmarks.evidence.learning_problem import LearningProblem
from benchmarks.evidence.measurements import Measured
from benchmarks.evidence.mnist_data import EPOCHS, LONGER, kept_file, problem
from benchmarks.evidence.ours import drawn, learned, ours, standard
from benchmarks.evidence.sweep import Cell

SIZES, SPLITS, SEEDS = (1000, 1500, 2000, 2500, 5000), (0.25, 0.5, 0.75), (0, 1, 2, 3, 4)
FEW, FEW_SEEDS = (300, 500), tuple(range(8))
"""where ours is compared with the standard method alone"""
PAPER_SEEDS, PAPER_STEPS = (0, 1), 500
"""the paper's own optimizer is slow: two seeds, and 7 x 500 steps instead of 7 x 2000"""
ABLATION_SEEDS, ABLATION_SPLIT = (0, 1, 2), 0.5
TRAINED = ("none", "mean", "mean_variance")
QUICK_SIZES, QUICK_STEPS = (1000, 5000), 100


def cells(quick: bool) -> list[Cell]:
    """Every run that there is to make: N, seed, perhaps a split, and what is run there."""
    sizes, splits, seeds = (QUICK_SIZES, (0.5,), (0,)) if quick else (SIZES, SPLITS, SEEDS)
    slow, steps, few = ((0,), QUICK_STEPS, (0,)) if quick else (PAPER_SEEDS, PAPER_STEPS, ABLATION_SEEDS)
    found = _cells("ours", sizes, seeds) + ([] if quick else _cells("ours", FEW, FEW_SEEDS))
    found += _cells("ours", QUICK_SIZES, few, epochs=LONGER) + _cells("drawn", sizes, few)
    found += _cells("proper", sizes, seeds, splits) + _cells("proper", QUICK_SIZES, few, (0.5,), epochs=LONGER)
    found += _cells("size", sizes, seeds, splits) + _cells("dropout", sizes, seeds, splits)
    found += [cell | {"steps": steps} for cell in _cells("paper", sizes, slow, splits)]
    found += _cells("priors", sizes, few, (ABLATION_SPLIT,))
    return found + _cells("size", QUICK_SIZES, few, (ABLATION_SPLIT,), epochs=LONGER)


def _cells(
    part: str, sizes: Sequence[int], seeds: Sequence[int], splits: Sequence[float] = (), epochs: int = EPOCHS
) -> list[Cell]:
    told: list[Cell] = [{"split": split} for split in splits] or [{}]
    return [
        {"part": part, "n": n} | split | {"seed": seed, "epochs": epochs}
        for n in sizes
        for split in told
        for seed in seeds
    ]


def work(cell: Cell, kept: Path) -> list[Measured]:
    return PARTS[cell["part"]](problem(kept_file(kept, cell["epochs"]), cell["n"], cell["seed"]), cell)


def _ours(points: LearningProblem, cell: Cell) -> list[Measured]:
    return [*standard(points, cell["seed"]), ours(points, cell["seed"])]


def _drawn(points: LearningProblem, cell: Cell) -> list[Measured]:
    return drawn(points, cell["seed"])


def _proper(points: LearningProblem, cell: Cell) -> list[Measured]:
    return [learned(points, cell["seed"], cell["split"])]


def _size(points: LearningProblem, cell: Cell) -> list[Measured]:
    """Those that minimise size on D_0: by the paper's settings, by ours, and with our dropout."""
    split, seed = cell["split"], cell["seed"]
    by_paper = Baseline(points, split, seed, paper_settings(regression=False))
    tuned = Baseline(points, split, seed, tuned_settings())
    found = by_paper.learned("2a") + by_paper.learned("2b")
    found += tuned.learned("2a") + tuned.learned("2b") + tuned.pac_bayes()
    return found + Baseline(points, split, seed, dropout_settings()).learned("2b")


def _dropout(points: LearningProblem, cell: Cell) -> list[Measured]:
    """The paper's method, its prior tuned for size with our dropout."""
    return Baseline(points, cell["split"], cell["seed"], dropout_settings()).pac_bayes()


def _paper(points: LearningProblem, cell: Cell) -> list[Measured]:
    settings = paper_settings(regression=False, steps=cell["steps"])
    return Baseline(points, cell["split"], cell["seed"], settings).pac_bayes()


def _priors(points: LearningProblem, cell: Cell) -> list[Measured]:
    """What is tuned of the prior, in the paper's method, whose step away from it is always taken."""
    found = []
    for trained in TRAINED:
        settings = tuned_settings()
        settings.prior["train"] = trained
        baseline = Baseline(points, cell["split"], cell["seed"], settings)
        found += [replace(measured, method=f"prior_{trained}") for measured in baseline.pac_bayes()]
    return found


PARTS: dict[str, Callable[[LearningProblem, Cell], list[Measured]]] = {
    "ours": _ours,
    "drawn": _drawn,
    "proper": _proper,
    "size": _size,
    "dropout": _dropout,
    "paper": _paper,
    "priors": _priors,
}
