"""The choices that a fit has, each with its share of delta: tuned parameters as they are, or a posterior step."""

import math
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from core.bounds import (
    PosteriorBound,
    TooFewPointsError,
    calibration_rank,
    kl_budget,
    per_draw_budget,
    per_draw_rank,
    vovk_2a,
    vovk_2b,
)
from core.fit.data import Rows
from core.fit.objectives import BatchSampler, size_loss
from core.fit.options import FitOptions
from core.fit.scorer import Scorer
from core.posterior.augmented_lagrangian import minimise_augmented_lagrangian
from core.posterior.gaussian import DiagonalGaussian, kl_divergence, log_ratio
from core.posterior.optimizing import Callback, Result, ShouldStop, standard_normal
from core.posterior.projected import minimise_projected

_FALLBACK_SHARES = (1.0, 0.9, 0.75, 0.5)
_FALLBACK_WEIGHTS = (0.7, 0.1, 0.1, 0.1)
_WORTHWHILE_NATS = 0.25
_DEVIATIONS = 1.0
"""how many standard deviations of a draw's log-ratio are kept free below its allowance"""


@dataclass(frozen=True)
class Candidate:
    """A choice before it is calibrated: members with ranks that the theory allows them."""

    choice: int
    bound: str
    guarantee: str
    theta: Tensor
    """(members, d)"""
    ranks: list[int]
    log_ratios: list[float]
    kl: float
    kl_budget: float | None
    k: int
    draws: int
    open_ranks: list[int]
    rank_weights: list[float]
    pool: int
    """how many members are served, of which a preview holds only the first few"""

    def first(self, members: int) -> "Candidate":
        """The same choice with its first few members only."""
        return replace(
            self, theta=self.theta[:members], ranks=self.ranks[:members], log_ratios=self.log_ratios[:members]
        )


def point_candidate(choice: int, theta: Tensor, n: int, alpha: float, delta: float, bound: str) -> Candidate:
    """The parameters as tuned, without a posterior step: one member, by Vovk."""
    k = int(calibration_rank(n, vovk_2a(n, alpha, delta)) if bound == "vovk_2a" else vovk_2b(n, alpha, delta))
    return Candidate(
        choice,
        bound,
        "per_draw",
        theta.unsqueeze(0),
        [k],
        [0.0],
        0.0,
        None,
        k,
        draws=1,
        open_ranks=[k],
        rank_weights=[1.0],
        pool=1,
    )


@dataclass(frozen=True)
class Step:
    """A posterior step that is worth taking: its level, rank and the nats that it may spend."""

    choice: int
    level: float
    """alpha_hat"""
    k: int
    budget: float
    """as the certificate states it"""
    target: float
    """what the optimizer may spend"""
    open_ranks: list[int]
    rank_weights: list[float]


def plan_steps(options: FitOptions, n: int, first_choice: int, share: float) -> list[Step]:
    """One for each level of the grid that leaves something to spend of its part of ``share`` of delta.

    Depends on no data, so that levels without a step need not be paid for: they are dropped until all that are left
    have one. What is dropped leaves more for the others, so none of them is lost again.
    """
    levels = list(options.alpha_hat)
    while levels:
        delta = options.delta * share / len(levels)
        steps = [_plan(options, n, first_choice + place, level, delta) for place, level in enumerate(levels)]
        worthwhile = [step for step in steps if step is not None and step.target >= _WORTHWHILE_NATS]
        if len(worthwhile) == len(levels):
            return worthwhile
        levels = [step.level for step in worthwhile]
    return []


def _plan(options: FitOptions, n: int, choice: int, level: float, delta: float) -> Step | None:
    try:
        k = int(calibration_rank(n, level))
    except TooFewPointsError:
        return None
    if options.guarantee == "posterior":
        bound: PosteriorBound = "seeger" if options.bound == "seeger" else "chernoff"
        budget = float(kl_budget(n, k, options.alpha, delta, bound))
        return Step(choice, level, k, budget, budget, [k], [1.0])
    ranks: dict[int, float] = {}
    for share, weight in zip(_FALLBACK_SHARES, _FALLBACK_WEIGHTS, strict=True):
        rank = max(1, int(k * share))
        ranks[rank] = ranks.get(rank, 0.0) + weight
    allowance = float(per_draw_budget(n, k, options.alpha, delta, ranks[k], options.members))
    # A draw's log-ratio has mean KL and a standard deviation of about sqrt(2 KL): solve KL + z sqrt(2 KL) = allowance.
    z = _DEVIATIONS * math.sqrt(2)
    root = (-z + math.sqrt(z * z + 4 * max(allowance, 0.0))) / 2
    return Step(choice, level, k, allowance, root * root, list(ranks), list(ranks.values()))


def fit_posteriors(
    scorer: Scorer,
    rows: Rows,
    prior: DiagonalGaussian,
    steps: list[Step],
    options: FitOptions,
    generator: torch.Generator,
    progress: Callback | None,
    should_stop: ShouldStop | None,
) -> Result:
    """All steps of the grid in one batched run."""
    settings = options.optimizer
    sampler = BatchSampler(rows, settings.batch, generator)
    loss = size_loss(scorer, sampler, [step.level for step in steps], settings)
    budgets = [step.target for step in steps]
    if settings.kind == "augmented_lagrangian":
        return minimise_augmented_lagrangian(
            prior,
            budgets,
            loss,
            outer=settings.outer,
            inner=settings.steps,
            draws=settings.draws,
            rate=settings.rate or 1e-3,
            generator=generator,
            progress=progress,
            should_stop=should_stop,
        )
    return minimise_projected(
        prior,
        budgets,
        loss,
        steps=settings.steps,
        draws=settings.draws,
        rate=settings.rate or 0.2,
        generator=generator,
        progress=progress,
        should_stop=should_stop,
    )


@torch.no_grad()
def posterior_candidate(
    step: Step,
    posterior: DiagonalGaussian,
    prior: DiagonalGaussian,
    n: int,
    options: FitOptions,
    delta: float,
    generator: torch.Generator,
) -> Candidate | None:
    """Draws the members and gives each the rank that it may have; None where no draw may be served."""
    noise = standard_normal((options.members, prior.mean.shape[-1]), generator, prior.mean.dtype)
    theta = posterior.sample(noise)
    divergence = float(kl_divergence(posterior, prior))
    ratios = log_ratio(posterior, prior, theta)
    if options.guarantee == "posterior":
        if not divergence <= step.budget:
            return None
        ranks = [step.k] * options.members
    else:
        served = np.asarray(
            per_draw_rank(
                n, options.alpha, delta, ratios.cpu().numpy(), step.open_ranks, step.rank_weights, options.members
            )
        )
        keep = torch.from_numpy(served > 0)
        theta, ratios = theta[keep.to(theta.device)], ratios[keep.to(ratios.device)]
        ranks = served[served > 0].tolist()
    if not ranks:
        return None
    bound = options.bound if options.guarantee == "posterior" else "per_draw"
    return Candidate(
        step.choice,
        bound,
        options.guarantee,
        theta,
        ranks,
        ratios.tolist(),
        divergence,
        step.budget,
        step.k,
        options.members,
        step.open_ranks,
        step.rank_weights,
        pool=len(ranks),
    )
