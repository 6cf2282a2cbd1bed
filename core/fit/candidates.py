"""The candidates that a fit chooses from: tuned parameters as they are, or members drawn from a posterior."""

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from certiset.core.certificate.guarantees import Guarantee
from certiset.core.fit.model_defaults import optimizer_rate
from certiset.core.fit.objectives import BatchSampler, size_loss
from certiset.core.fit.plan import Plan
from certiset.core.fit.rows import Rows
from certiset.core.fit.scorer import Scorer
from certiset.core.posterior.augmented_lagrangian import minimise_augmented_lagrangian
from certiset.core.posterior.gaussian import DiagonalGaussian, kl_divergence, log_ratio
from certiset.core.posterior.optimizer import Callback, Result, ShouldStop, standard_normal
from certiset.core.posterior.projected import minimise_projected


@dataclass(frozen=True)
class Candidate:
    """A choice before it is calibrated: members with ranks that the theory allows them."""

    choice: int
    guarantee: Guarantee
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
    distances: list[float] | None = None
    """of drawn members from the prior's mean, in its standard deviations"""

    def first(self, members: int) -> "Candidate":
        """The same choice with its first few members only."""
        return self.only(slice(members))

    def only(self, part: slice) -> "Candidate":
        """The same choice with some of its members."""
        return replace(
            self,
            theta=self.theta[part],
            ranks=self.ranks[part],
            log_ratios=self.log_ratios[part],
            distances=None if self.distances is None else self.distances[part],
        )


def point_candidate(plan: Plan, choice: int, theta: Tensor) -> Candidate:
    """The parameters as tuned, without a posterior step: one member."""
    guarantee = plan.point_guarantee
    k = guarantee.rank(plan.n, plan.options.level, plan.delta(choice))
    assert k is not None
    return Candidate(
        choice,
        guarantee,
        theta.unsqueeze(0),
        [k],
        [0.0],
        kl=0.0,
        kl_budget=None,
        k=k,
        draws=1,
        open_ranks=[k],
        rank_weights=[1.0],
        pool=1,
    )


def fit_posteriors(
    plan: Plan,
    scorer: Scorer,
    rows: Rows,
    prior: DiagonalGaussian,
    generator: torch.Generator,
    progress: Callback | None,
    should_stop: ShouldStop | None,
) -> Result:
    """All steps of the plan in one batched run."""
    settings = plan.options.optimizer
    sampler = BatchSampler(rows, settings.batch, generator)
    loss = size_loss(scorer, sampler, [step.level for step in plan.steps], settings)
    budgets = [step.target for step in plan.steps]
    if settings.kind == "augmented_lagrangian":
        return minimise_augmented_lagrangian(
            prior,
            budgets,
            loss,
            outer=settings.outer,
            inner=settings.steps,
            draws=settings.draws,
            rate=optimizer_rate(settings),
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
        rate=optimizer_rate(settings),
        generator=generator,
        progress=progress,
        should_stop=should_stop,
    )


@torch.no_grad()
def posterior_candidate(
    plan: Plan, place: int, posterior: DiagonalGaussian, prior: DiagonalGaussian, generator: torch.Generator
) -> Candidate | None:
    """Draws the members of one step and gives each the rank that it may have; None where no draw may be served.

    The first draws with a rank are the members; spare ones stand in for those without, and were paid for like all.
    """
    options, step, guarantee = plan.options, plan.steps[place], plan.posterior_guarantee
    draws = guarantee.draws(options.members)
    noise = standard_normal((draws, prior.mean.shape[-1]), generator, prior.mean.dtype)
    theta = posterior.sample(noise)
    divergence = float(kl_divergence(posterior, prior))
    ratios = log_ratio(posterior, prior, theta)
    ranks = guarantee.ranks(step, plan.n, options.level, plan.delta(place), divergence, ratios.cpu().double().numpy())
    kept = np.flatnonzero(ranks)[: options.members]
    if not kept.size:
        return None
    served = torch.from_numpy(kept).to(theta.device)
    return Candidate(
        place,
        guarantee,
        theta[served],
        ranks[kept].tolist(),
        ratios[served].tolist(),
        kl=divergence,
        kl_budget=step.budget,
        k=step.k,
        draws=draws,
        open_ranks=step.open_ranks,
        rank_weights=step.rank_weights,
        pool=len(kept),
        distances=prior.distance(theta)[served].tolist(),
    )
