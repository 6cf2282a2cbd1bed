"""Tuning the prior on D_0, the part of the data that is not used for calibration."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch

from core.fit.data import Rows
from core.fit.objectives import BatchSampler, proper_loss, size_loss
from core.fit.options import FitOptions, PriorOptions
from core.fit.scorer import Scorer
from core.posterior.gaussian import DiagonalGaussian, fan_in_prior
from core.posterior.optimizing import Adam, Loss, ShouldStop

_VARIANCE_SHARE = 8
_VARIANCE_RATE = 0.05
_VARIANCE_DRAWS = 2
_REPORT_EVERY = 100
_WARM_UP = 0.05

Report = Callable[[int, int, float], None]
"""step, steps, loss"""


def tune_prior(
    scorer: Scorer,
    rows: Rows,
    options: FitOptions,
    objective: str,
    generator: torch.Generator,
    *,
    scale_too: bool,
    progress: Report | None = None,
    should_stop: ShouldStop | None = None,
) -> DiagonalGaussian:
    """The prior N(mean, scale): its mean tuned from the model as given, then, where it will be drawn from, its scale.

    The mean returned is the average over the second half of the path, which fluctuates less than its end. If the loss
    is no longer finite, the mean as given is kept.
    """
    settings = _settings(scorer, options.prior)
    device, dtype = rows.features.device, rows.features.dtype
    start = scorer.initial(generator).to(device, dtype)
    prior = fan_in_prior(start, scorer.fan_in().to(device), options.prior.scale)
    if options.prior.train == "none" or scorer.parameters == 0 or len(rows) < 2 or settings.steps == 0:
        return prior
    loss = _loss(scorer, rows, options, objective, settings.batch, generator)
    mean = start.clone().requires_grad_(True)
    adam = Adam([mean.data], [settings.rate])
    average, counted = torch.zeros_like(start), 0
    steps = settings.steps
    for step in range(1, steps + 1):
        value = loss(mean.view(1, 1, -1)).sum()
        adam.step(list(torch.autograd.grad(value, [mean])), decay=_schedule(step / steps))
        if 2 * step > steps:
            average += mean.data
            counted += 1
        if step % _REPORT_EVERY == 0 or step == steps:
            if progress is not None:
                progress(step, steps, float(value.detach()))
            if should_stop is not None and should_stop():
                break
    tuned = average / counted if counted else mean.data
    if not torch.isfinite(tuned).all():
        return prior
    prior = DiagonalGaussian(tuned, prior.log_scale)
    if scale_too and options.prior.train == "mean_variance":
        return _tune_scale(prior, loss, steps // _VARIANCE_SHARE, generator)
    return prior


def _tune_scale(prior: DiagonalGaussian, loss: Loss, steps: int, generator: torch.Generator) -> DiagonalGaussian:
    """The scale that keeps draws from the prior efficient, by the same loss."""
    log_scale = prior.log_scale.clone().requires_grad_(True)
    adam = Adam([log_scale.data], [_VARIANCE_RATE])
    for _ in range(steps):
        noise = torch.randn(_VARIANCE_DRAWS, prior.mean.shape[0], generator=generator, dtype=prior.mean.dtype)
        theta = prior.mean + log_scale.exp() * noise.to(prior.mean.device)
        value = loss(theta.unsqueeze(0)).sum()
        adam.step(list(torch.autograd.grad(value, [log_scale])))
    finite = torch.where(torch.isfinite(log_scale.data), log_scale.data, prior.log_scale)
    return DiagonalGaussian(prior.mean, finite)


@dataclass(frozen=True)
class _Settings:
    steps: int
    rate: float
    batch: int


_FOR_HEADS = _Settings(steps=1000, rate=2e-3, batch=256)
_FOR_SCALES = _Settings(steps=400, rate=6e-3, batch=128)


def _settings(scorer: Scorer, given: PriorOptions) -> _Settings:
    usual = _FOR_HEADS if scorer.tunes_head else _FOR_SCALES
    return _Settings(
        usual.steps if given.steps is None else given.steps,
        usual.rate if given.rate is None else given.rate,
        usual.batch if given.batch is None else given.batch,
    )


def _loss(
    scorer: Scorer, rows: Rows, options: FitOptions, objective: str, batch: int, generator: torch.Generator
) -> Loss:
    sampler = BatchSampler(rows, batch, generator)
    proper = proper_loss(scorer, sampler, options.alpha)
    if objective == "proper":
        return proper
    size = size_loss(scorer, sampler, [options.alpha], options.optimizer)
    if objective == "size":
        return size
    return lambda theta: 0.5 * (proper(theta) + size(theta))


def _schedule(share: float) -> float:
    """A short warm-up, then a cosine down to a tenth."""
    if share < _WARM_UP:
        return share / _WARM_UP
    return 0.55 + 0.45 * math.cos(math.pi * share)
