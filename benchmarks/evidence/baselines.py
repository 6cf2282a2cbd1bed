"""The paper's learned baseline and its PAC-Bayes method: tune on D_0 for small sets, then calibrate, or step and draw.

Each is run by the paper's settings and by ours for the same loss, so that no baseline stays behind for want of tuning;
tables show whichever was better.
"""

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from benchmarks.evidence.learning_problem import ALPHA, DELTA, LearningProblem
from benchmarks.evidence.measurements import Measured, of_pairs
from certiset.core.bounds import (
    PosteriorBound,
    TooFewPointsError,
    calibration_rank,
    efficiency_bound,
    kl_budget,
    vovk_2a,
    vovk_2b,
)
from certiset.core.certificate.guarantees import Step
from certiset.core.data.arrays import check_data
from certiset.core.fit.candidates import fit_posteriors
from certiset.core.fit.options import GRID_SHARES, FitOptions
from certiset.core.fit.plan import Plan
from certiset.core.fit.rows import on_device
from certiset.core.fit.scorer import make_scorer
from certiset.core.fit.thresholds import GRID_POINTS, calibrate, size_cap
from certiset.core.fit.tuning import tune_priors

LEVELS = tuple(round(ALPHA * share, 12) for share in GRID_SHARES)
MEMBERS = 32


@dataclass(frozen=True)
class BaselineOptions:
    """How a rival is tuned and fitted."""

    name: str
    prior: dict[str, Any]
    optimizer: dict[str, Any]
    """kind, rounds and steps of the posterior's optimizer, and its loss"""
    tune: str = "auto"
    """which parameters theta holds"""


def paper_settings(regression: bool, steps: int = 2000) -> BaselineOptions:
    """As in the paper's appendix, but for the number of inner steps if it is given."""
    prior = {
        "train": "mean" if regression else "mean_variance",
        "objective": "size",
        "scale": 0.02 if regression else 0.01,
        "steps": 2000,
        "rate": 1e-3,
        "batch": 100,
        "dropout": 0.0,
    }
    optimizer = {
        "kind": "augmented_lagrangian",
        "outer": 7,
        "steps": steps,
        "rate": 1e-3,
        "batch": 100,
        "quantile": "neural_sort",
        "measure": "log_radius" if regression else "size",
    }
    return BaselineOptions("paper", prior, optimizer)


def tuned_settings() -> BaselineOptions:
    """The same loss with our steps, rate, batch, smooth quantile and optimizer; no dropout."""
    return BaselineOptions("tuned", {"objective": "size", "dropout": 0.0}, {})


def dropout_settings() -> BaselineOptions:
    """The same with our dropout too, which neither the paper nor those whom it follows use."""
    return BaselineOptions("dropout", {"objective": "size"}, {})


def both_settings() -> BaselineOptions:
    """The tuned settings, for head and scale together."""
    return replace(tuned_settings(), name="both", tune="both")


class Baseline:
    """One problem, split and tuned once for both methods."""

    def __init__(self, problem: LearningProblem, split: float, seed: int, settings: BaselineOptions) -> None:
        self.problem, self.settings = problem, settings
        task = problem.model.manifest.task
        given = {"prior": settings.prior, "optimizer": settings.optimizer, "tune": settings.tune}
        self.options = FitOptions.read(given).resolved(task)
        data = check_data(problem.model, problem.x, problem.y, allow_missing_classes=True)
        generator = self.generator = torch.Generator().manual_seed(seed)
        order = torch.randperm(len(data.y), generator=generator)
        rows = on_device(problem.model, data, torch.device("cpu"), torch.float32)
        kept = 0 if settings.prior.get("train") == "none" else int(split * len(rows))
        self.tuning = rows.take(order[:kept]) if kept else None
        self.calibration = rows.take(order[kept:])
        self.n = len(self.calibration)
        features = rows.features.shape[1]
        self.scorer = make_scorer(problem.model, self.options, self.options.chosen_score, tuned=True, features=features)
        start = time.process_time()
        (self.prior,) = tune_priors(
            self.scorer,
            self.tuning if self.tuning is not None else self.calibration.slice(0, 1),
            self.options,
            ["size"],
            generator,
            first_is_drawn_from=True,
        )
        self.tuning_seconds = time.process_time() - start
        self.pairs: tuple[torch.Tensor, list[float]] | None = None
        """the (theta, tau) that were measured last"""

    def learned(self, bound: str) -> list[Measured]:
        """The tuned parameters as they are, at the level that Vovk's bound allows; nothing where there are too few."""
        n = self.n
        try:
            k = int(calibration_rank(n, vovk_2a(n, ALPHA, DELTA)) if bound == "2a" else vovk_2b(n, ALPHA, DELTA))
        except TooFewPointsError:
            return []
        theta = self.prior.mean.unsqueeze(0)
        found = calibrate(self.scorer, theta, self.calibration, [k], tuning=None, cap=None)
        self.pairs = (theta, found.tau)
        measured = of_pairs(
            f"learned_{bound}_{self.settings.name}",
            self.problem,
            self.scorer,
            theta,
            found.tau,
            certified_size=None,
            level=k / (self.n + 1),
            members=1,
            kl=0.0,
            choice=f"Vovk {bound}",
            cpu_seconds=self.tuning_seconds,
        )
        return [measured]

    def pac_bayes(self, bound: PosteriorBound = "seeger") -> list[Measured]:
        """The paper's Algorithm 1 by its own bound (or ours), at each of five levels by a fifth of delta.

        Of those the one with the best efficiency certificate. Levels without a budget are skipped, the prior is tuned
        once for all, and the certificate is grid_kl, since Theorem 2 is vacuous here: all kinder to the baseline than
        what the paper does. Nothing where no level has a budget.
        """
        start, share = time.process_time(), DELTA / len(LEVELS)
        ranks = {level: int(calibration_rank(self.n, level)) for level in LEVELS if (self.n + 1) * level >= 2}
        budgets = {level: float(kl_budget(self.n, k, ALPHA, share, bound)) for level, k in ranks.items()}
        levels = [level for level, budget in budgets.items() if budget > 0]
        if not levels:
            return []
        steps = [Step(level, ranks[level], budgets[level], budgets[level], [ranks[level]], [1.0]) for level in levels]
        weights = [1 / len(LEVELS)] * len(steps)
        plan = Plan(self.options, self.scorer.score, len(self.tuning or ()), (self.n,), [], weights, steps)
        posteriors = fit_posteriors(plan, self.scorer, self.calibration, self.prior, self.generator, None, None)
        cap = size_cap(self.scorer, self.tuning if self.tuning is not None else self.calibration, None)
        best: tuple[float, float | None, int] | None = None
        for place, step in enumerate(steps):
            noise = torch.randn(MEMBERS, self.scorer.parameters, generator=self.generator)
            theta = posteriors.posterior[place].sample(noise)
            found = calibrate(self.scorer, theta, self.calibration, [step.k] * MEMBERS, tuning=self.tuning, cap=cap)
            certified: float | None = None
            if cap is not None and self.tuning is not None:
                bounded = efficiency_bound(
                    float(np.mean(found.efficiency)),
                    self.n,
                    share / 2,
                    posteriors.kl[place],
                    "grid_kl",
                    grid_size=GRID_POINTS,
                    draws=MEMBERS,
                    gamma_monte_carlo=share / 2,
                )
                certified = cap * float(bounded)
            cost = float(np.mean(found.size)) if certified is None else certified
            if best is None or cost < best[0]:
                best, self.pairs = (cost, certified, place), (theta, found.tau)
        assert best is not None
        assert self.pairs is not None
        seconds = self.tuning_seconds + time.process_time() - start
        _, certified, place = best
        measured = of_pairs(
            f"paper_{self.settings.name}" if bound == "seeger" else bound,
            self.problem,
            self.scorer,
            *self.pairs,
            certified_size=certified,
            level=steps[place].k / (self.n + 1),
            members=MEMBERS,
            kl=posteriors.kl[place],
            choice=f"alpha_hat = {steps[place].level:g}",
            cpu_seconds=seconds,
        )
        return [measured]
