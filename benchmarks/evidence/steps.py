"""Where a posterior step on D_N earns its nats, in the kindest of settings: few parameters, little to tune on.

A sensor has a gain and an offset that nobody knows: y = 0.8 x + 0.7 + noise, and the model says x. Two parameters put
that right. They can be tuned on some points that are then lost to calibration ("tune, then Vovk 2b"), or be drawn from
a posterior that looks at the calibration points and pays for it in nats. Both get the whole of delta.
"""

import time
from pathlib import Path

import numpy as np
import torch

from benchmarks.evidence.learning_problem import ALPHA, DELTA, LearningProblem
from benchmarks.evidence.measurements import Measured, of_pairs
from benchmarks.evidence.sweep import Cell
from certiset.core.bounds import vovk_2b
from certiset.core.data.arrays import check_data
from certiset.core.fit.candidates import fit_posteriors, posterior_candidate
from certiset.core.fit.options import FitOptions
from certiset.core.fit.plan import Plan, plan_steps
from certiset.core.fit.rows import on_device
from certiset.core.fit.scorer import make_scorer
from certiset.core.fit.thresholds import calibrate
from certiset.core.fit.tuning import tune_priors
from certiset.core.models import Model
from certiset.core.posterior.gaussian import DiagonalGaussian

N, TUNING, SEEDS = 500, (0, 5, 10, 20, 50, 100, 150), tuple(range(60))
QUICK_TUNING, QUICK_SEEDS = (10, 100), (0,)
LEVELS = (0.055, 0.065, 0.07)
OBJECTIVES = ("size", "proper")
_PRIOR_VARIANCE = 2.0
"""of the prior around the tuned parameters, divided by the number of tuning points; without any, it is N(0, 1)"""
TEST = 4000


def cells(quick: bool) -> list[Cell]:
    tuning, seeds = (QUICK_TUNING, QUICK_SEEDS) if quick else (TUNING, SEEDS)
    return [{"part": "sensor", "n": N, "tuning": points, "seed": seed} for points in tuning for seed in seeds]


def problem(seed: int) -> LearningProblem:
    random = np.random.default_rng(seed)
    x = random.normal(size=(N + TEST, 1)).astype(np.float32)
    y = (0.8 * x[:, 0] + 0.7 + random.normal(size=N + TEST)).astype(np.float32)
    model = Model.from_manifest(
        {"name": "sensor", "task": "regression", "input_shape": [1], "head": {"kind": "identity"}}
    )
    return LearningProblem("sensor", model, x[:N], y[:N], x[N:], y[N:])


def work(cell: Cell, kept: Path) -> list[Measured]:
    points, tuning, seed = problem(cell["seed"]), cell["tuning"], cell["seed"]
    found = [_run(points, tuning, seed, objective, None) for objective in OBJECTIVES]
    found += [_run(points, tuning, seed, "proper", level) for level in LEVELS]
    return [measured for measured in found if measured is not None]


def _run(points: LearningProblem, tuning: int, seed: int, objective: str, level: float | None) -> Measured | None:
    """Tuned and calibrated where there is no level; otherwise tuned, stepped at that level, drawn once."""
    start, generator = time.process_time(), torch.Generator().manual_seed(seed)
    given = {
        "alpha": ALPHA,
        "delta": DELTA,
        "score": {"kind": "residual"},
        "tune": "head",
        "members": 1,
        "alpha_hat": [level or 0.05],
        "prior": {"steps": 150, "rate": 0.05, "train": "mean", "batch": 128},
        "optimizer": {"steps": 200, "draws": 4, "batch": 256},
    }
    options = FitOptions.read(given).resolved("regression")
    data = check_data(points.model, points.x, points.y, allow_missing_classes=True)
    rows = on_device(points.model, data, torch.device("cpu"), torch.float32)
    scorer = make_scorer(points.model, options, options.chosen_score, tuned=True, features=1)
    kept, n = rows.slice(tuning, len(rows)), len(rows) - tuning
    prior = DiagonalGaussian(torch.zeros(scorer.parameters), torch.zeros(scorer.parameters))
    if tuning:
        first = rows.slice(0, tuning)
        (tuned,) = tune_priors(scorer, first, options, [objective], generator, first_is_drawn_from=False)
        spread = torch.full_like(tuned.mean, 0.5 * float(np.log(_PRIOR_VARIANCE / tuning)))
        prior = DiagonalGaussian(tuned.mean, spread)
    theta, k, kl = prior.mean.unsqueeze(0), int(vovk_2b(n, ALPHA, DELTA)), 0.0
    if level is not None:
        steps = plan_steps(options, n)
        if not steps:
            return None
        plan = Plan(options, scorer.score, tuning, (n,), [], [1.0], steps)
        result = fit_posteriors(plan, scorer, kept, prior, generator, None, None)
        drawn = posterior_candidate(plan, 0, result.posterior[0], prior, generator)
        if drawn is None:
            return None
        theta, k, kl = drawn.theta, drawn.ranks[0], drawn.kl
    found = calibrate(scorer, theta, kept, [k], tuning=None, cap=None)
    return of_pairs(
        f"tuned_{objective}" if level is None else f"step_{level:g}",
        points,
        scorer,
        theta,
        found.tau,
        certified_size=None,
        level=k / (n + 1),
        members=1,
        kl=kl,
        choice="Vovk 2b" if level is None else f"posterior step at alpha_hat = {level:g}",
        cpu_seconds=time.process_time() - start,
    )
