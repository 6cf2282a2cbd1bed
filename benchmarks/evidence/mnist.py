"""The paper's experiment on corrupted MNIST, with every baseline, two ablations, and coverage by class."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.evidence.baselines import Baseline, dropout_settings, paper_settings, tuned_settings
from benchmarks.evidence.learning_problem import LearningProblem
from benchmarks.evidence.measurements import Measured
from benchmarks.evidence.mnist_data import EPOCHS, LONGER, kept_file, problem
from benchmarks.evidence.ours import ours, standard
from benchmarks.evidence.sweep import Cell

SIZES, SPLITS, SEEDS = (1000, 1500, 2000, 2500, 5000), (0.25, 0.5, 0.75), (0, 1, 2, 3, 4)
PAPER_SEEDS, PAPER_STEPS = (0, 1), 500
"""the paper's own optimizer is slow: two seeds, and 7 x 500 steps instead of 7 x 2000"""
ABLATION_SEEDS, ABLATION_SPLIT = (0, 1, 2), 0.5
OBJECTIVES = ("size", "proper", "mix")
TRAINED = ("none", "mean", "mean_variance")
QUICK_SIZES, QUICK_STEPS = (1000, 5000), 100


def cells(quick: bool) -> list[Cell]:
    """Every run that there is to make: N, split and seed, and what is run there."""
    sizes, splits, seeds = (QUICK_SIZES, (0.5,), (0,)) if quick else (SIZES, SPLITS, SEEDS)
    slow, steps, ablated = ((0,), QUICK_STEPS, (0,)) if quick else (PAPER_SEEDS, PAPER_STEPS, ABLATION_SEEDS)
    parts: dict[str, Sequence[int]] = {"main": seeds, "dropout": seeds, "paper": slow}
    parts |= {"objectives": ablated, "priors": ablated, "longer": ablated}
    return [
        {"part": part, "n": n, "split": split, "seed": seed}
        | {"epochs": LONGER if part == "longer" else EPOCHS}
        | ({"steps": steps} if part == "paper" else {})
        for part, part_seeds in parts.items()
        for n in (QUICK_SIZES if part == "longer" else sizes)
        for split in (splits if part in ("main", "dropout", "paper") else (ABLATION_SPLIT,))
        for seed in part_seeds
    ]


def work(cell: Cell, kept: Path) -> list[Measured]:
    points = problem(kept_file(kept, cell["epochs"]), cell["n"], cell["seed"])
    parts: dict[str, Any] = {
        "main": _main,
        "dropout": _dropout,
        "paper": _paper,
        "objectives": _objectives,
        "priors": _priors,
        "longer": _main,
    }
    found: list[Measured] = parts[cell["part"]](points, cell)
    return found


def _main(points: LearningProblem, cell: Cell) -> list[Measured]:
    split, seed = cell["split"], cell["seed"]
    found = [*standard(points, seed), ours(points, seed, split)]
    learned = Baseline(points, split, seed, paper_settings(regression=False))
    found += learned.learned("2a") + learned.learned("2b")
    tuned = Baseline(points, split, seed, tuned_settings())
    found += tuned.learned("2a") + tuned.learned("2b") + tuned.pac_bayes()
    return found + Baseline(points, split, seed, dropout_settings()).learned("2b")


def _dropout(points: LearningProblem, cell: Cell) -> list[Measured]:
    """The paper's method, its prior tuned for size with our dropout."""
    return Baseline(points, cell["split"], cell["seed"], dropout_settings()).pac_bayes()


def _paper(points: LearningProblem, cell: Cell) -> list[Measured]:
    settings = paper_settings(regression=False, steps=cell["steps"])
    return Baseline(points, cell["split"], cell["seed"], settings).pac_bayes()


def _objectives(points: LearningProblem, cell: Cell) -> list[Measured]:
    """What the prior is tuned for, in our fit."""
    return [
        ours(
            points,
            cell["seed"],
            cell["split"],
            f"objective_{objective}",
            method="learned",
            prior={"objective": objective},
        )
        for objective in OBJECTIVES
    ]


def _priors(points: LearningProblem, cell: Cell) -> list[Measured]:
    """What is tuned of the prior, in the paper's method, whose step away from it is always taken."""
    found = []
    for trained in TRAINED:
        settings = tuned_settings()
        settings.prior["train"] = trained
        baseline = Baseline(points, cell["split"], cell["seed"], settings)
        found += [replace(measured, method=f"prior_{trained}") for measured in baseline.pac_bayes()]
    return found
