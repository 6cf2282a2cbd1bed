"""The paper's toy regression: data, base predictor and score as in its appendix, from 100 to 5000 points."""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn.functional import mse_loss

from benchmarks.evidence.baselines import Baseline, both_settings, paper_settings, tuned_settings
from benchmarks.evidence.learning_problem import ALPHA, DELTA, LearningProblem
from benchmarks.evidence.measurements import Measured
from benchmarks.evidence.ours import drawn, learned, ours, standard
from benchmarks.evidence.sweep import Cell
from certiset.core.fit import fit
from certiset.core.models import Model
from certiset.core.sets import Intervals
from certiset.service.demo.base_models import train
from certiset.service.demo.toy import TRAINING, WIDTHS, toy_rows

SIZES, SPLITS, SEEDS = (100, 200, 500, 1000, 2000, 5000), (0.3, 0.5), (0, 1, 2, 3, 4)
OUR_SIZES, OUR_SEEDS = (100, 200, 300, 500, 1000, 2000, 5000), tuple(range(8))
PAPER_SPLIT, PAPER_STEPS = 0.5, 500
"""the paper's optimizer: 7 x 500 steps instead of 7 x 2000"""
QUICK_SIZES, QUICK_STEPS = (500, 5000), 100
TEST, FRESH = 5000, 10_000
BAND_SIZES = (500, 5000)


def cells(quick: bool) -> list[Cell]:
    sizes, splits, seeds = (QUICK_SIZES, (0.5,), (0,)) if quick else (SIZES, SPLITS, SEEDS)
    our_sizes, our_seeds = (QUICK_SIZES, (0,)) if quick else (OUR_SIZES, OUR_SEEDS)
    mine: list[Cell] = [{"part": "ours", "n": n, "seed": seed} for n in our_sizes for seed in our_seeds]
    rivals: list[Cell] = [
        {"part": part, "n": n, "split": split, "seed": seed}
        for part in ("proper", "size", "more")
        for n in sizes
        for split in splits
        for seed in seeds
    ]
    steps = QUICK_STEPS if quick else PAPER_STEPS
    return [
        *mine,
        *rivals,
        *(
            {"part": "paper", "n": n, "split": PAPER_SPLIT, "seed": seed, "steps": steps}
            for n in sizes
            for seed in seeds
        ),
    ]


def work(cell: Cell, kept: Path) -> list[Measured]:
    points, seed = problem(cell["n"], cell["seed"]), cell["seed"]
    if cell["part"] == "ours":
        return [*standard(points, seed), ours(points, seed), *drawn(points, seed)]
    split = cell["split"]
    if cell["part"] == "proper":
        return [learned(points, seed, split), learned(points, seed, split, "learned_proper_both", tune="both")]
    if cell["part"] == "paper":
        return Baseline(points, split, seed, paper_settings(regression=True, steps=cell["steps"])).pac_bayes()
    if cell["part"] == "more":
        both = Baseline(points, split, seed, both_settings())
        return both.learned("2b") + Baseline(points, split, seed, tuned_settings()).pac_bayes("chernoff")
    by_paper = Baseline(points, split, seed, paper_settings(regression=True))
    tuned = Baseline(points, split, seed, tuned_settings())
    found = by_paper.learned("2a") + by_paper.learned("2b")
    return found + tuned.learned("2a") + tuned.learned("2b") + tuned.pac_bayes()


def problem(n: int, seed: int) -> LearningProblem:
    """Fresh points and a fresh base predictor for each seed; those of a smaller N are not among those of a larger."""
    random = np.random.default_rng([seed, n])
    weights = train(*toy_rows(TRAINING, random), WIDTHS, mse_loss, steps=300, seed=seed)
    (x, y), (test_x, test_y), (fresh, _) = (toy_rows(rows, random) for rows in (n, TEST, FRESH))
    manifest = {
        "name": "toy regression",
        "task": "regression",
        "input_shape": [1],
        "head": {"kind": "mlp", "widths": WIDTHS, "activation": "relu"},
    }
    model = Model.from_manifest(manifest, weights)
    return LearningProblem(f"toy N = {n}", model, x, y[:, 0], test_x, test_y[:, 0], fresh)


def bands(n: int) -> dict[str, Any]:
    """For the illustrative figure: some test points, and each method's interval over a grid of inputs."""
    points = problem(n, 0)
    grid = np.linspace(-1, 1, 121, dtype=np.float32)[:, None]
    methods: dict[str, dict[str, Any]] = {
        "standard, Vovk 2b": {"method": "standard", "bound": "vovk_2b"},
        "learned, Vovk 2b": {"method": "learned", "bound": "vovk_2b", "prior": {"objective": "size"}},
        "ours": {},
    }
    found = {}
    for name, options in methods.items():
        predictor = fit(points.model, points.x, points.y, alpha=ALPHA, delta=DELTA, **options)
        sets = predictor.predict_set(grid, member=0)
        assert isinstance(sets, Intervals)
        found[name] = [sets.lower.tolist(), sets.upper.tolist()]
    return {"n": n, "x": grid[:, 0].tolist(), "bands": found, "paper": _paper_band(points, grid)} | {
        "points": [points.test_x[:300, 0].tolist(), points.test_y[:300].tolist()]
    }


def _paper_band(points: LearningProblem, grid: np.ndarray[Any, Any]) -> list[list[float]] | None:
    """One drawn member of the paper's method, with our steps and optimizer."""
    baseline = Baseline(points, PAPER_SPLIT, 0, tuned_settings())
    if not baseline.pac_bayes() or baseline.pairs is None:
        return None
    theta, tau = baseline.pairs
    features, scale = torch.from_numpy(grid), baseline.scorer.scale
    assert scale is not None
    with torch.no_grad():
        center = points.model.given_outputs(features)[:, 0]
        radius = scale.forward(theta[:1], features)[0] * tau[0]
    return [(center - radius).tolist(), (center + radius).tolist()]
