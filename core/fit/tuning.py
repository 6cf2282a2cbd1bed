"""Tuning priors on D_0, the part of the data that is not used for calibration."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from certiset.core.fit.model_defaults import TuningSchedule, tuning_schedule
from certiset.core.fit.objectives import BatchSampler, tuning_loss
from certiset.core.fit.options import FitOptions
from certiset.core.fit.rows import Rows
from certiset.core.fit.scorer import Scorer
from certiset.core.fit.workspace import Workspace
from certiset.core.posterior.gaussian import DiagonalGaussian, fan_in_prior
from certiset.core.posterior.optimizer import Adam, ShouldStop, standard_normal

_VARIANCE_SHARE = 8
_VARIANCE_RATE = 0.05
_VARIANCE_DRAWS = 2
_STOP_EVERY = 100
_REPORTS = 20
"""of a short run, each of which waits for the device"""
_WARM_UP = 0.05

Report = Callable[[int, int, float], None]
"""step, steps, loss of the first objective"""


def tune_prior(work: Workspace, scorer: Scorer, *, is_drawn_from: bool) -> DiagonalGaussian:
    """The prior of a fit, tuned on its D_0; without rows to tune on it is the model as given."""
    rows, options = work.tuning(), work.plan.options
    (prior,) = tune_priors(
        scorer,
        # Without tuning data nothing is tuned; the row then only tells device and precision.
        rows if rows is not None else work.rows.slice(0, 1),
        options,
        [options.prior.objective],
        work.generator(1),
        first_is_drawn_from=is_drawn_from,
        progress=lambda step, steps, loss: work.report("tune", step, steps, loss=loss),
        should_stop=work.should_stop,
    )
    work.stop_if_asked()
    return prior


def tune_priors(
    scorer: Scorer,
    rows: Rows,
    options: FitOptions,
    objectives: list[str],
    generator: torch.Generator,
    *,
    first_is_drawn_from: bool,
    progress: Report | None = None,
    should_stop: ShouldStop | None = None,
) -> list[DiagonalGaussian]:
    """A prior N(mean, scale) for each objective, all tuned in one batched run from the model as given.

    Each mean is the average over the second half of its path, which fluctuates less than the path's end; where the
    loss is no longer finite, the mean as given is kept. The first prior's scale is tuned too if draws will be taken
    from it and it is asked for.
    """
    device, dtype = rows.features.device, rows.features.dtype
    start = scorer.initial(generator).to(device, dtype)
    untuned = fan_in_prior(start, scorer.fan_in().to(device), options.prior.scale)
    schedule = tuning_schedule(options.prior, tunes_head=scorer.tunes_head, features=rows.features.shape[1])
    if options.prior.train == "none" or scorer.parameters == 0 or len(rows) < 2 or schedule.steps == 0:
        return [untuned] * len(objectives)
    sampler = BatchSampler(rows, schedule.batch, generator, schedule.dropout)
    loss = tuning_loss(scorer, sampler, objectives, options)
    means = minimise(start.repeat(len(objectives), 1), loss, schedule, progress, should_stop)
    priors = [DiagonalGaussian(mean, untuned.log_scale) for mean in means]
    if first_is_drawn_from and options.prior.train == "mean_variance":
        priors[0] = _tune_scale(
            priors[0],
            tuning_loss(scorer, sampler, [objectives[0]] * _VARIANCE_DRAWS, options),
            schedule.steps // _VARIANCE_SHARE,
            generator,
            should_stop,
        )
    return priors


def tune_pulled(
    scorer: Scorer,
    rows: Rows,
    pulls: list[float],
    options: FitOptions,
    schedule: TuningSchedule,
    generator: torch.Generator,
    *,
    start: Tensor | None = None,
    progress: Report | None = None,
    should_stop: ShouldStop | None = None,
) -> Tensor:
    """(pulls, d): tuned by the proper score plus pull |theta - as given|^2, one row for each pull, as one batch.

    A strong pull leaves the model as it was given; which strength is right depends on how many rows there are.
    ``start`` is where to begin, (pulls, d), if that is not the model as given.
    """
    device, dtype = rows.features.device, rows.features.dtype
    given = scorer.initial(generator).to(device, dtype)
    sampler = BatchSampler(rows, schedule.batch, generator, schedule.dropout)
    strength = torch.tensor(pulls, device=device, dtype=dtype)

    def loss(theta: Tensor) -> Tensor:
        batch = sampler.next()
        values = scorer.score.proper_loss(scorer.predict(theta, batch), batch.y, options.level)
        return values + strength * (theta - given).square().sum(dim=1)

    begin = given.repeat(len(pulls), 1) if start is None else start
    return minimise(begin, loss, schedule, progress, should_stop)


def minimise(
    start: Tensor,
    loss: Callable[[Tensor], Tensor],
    schedule: TuningSchedule,
    progress: Report | None = None,
    should_stop: ShouldStop | None = None,
) -> Tensor:
    """(count, d) from a start of that shape: each row by itself, since the losses are summed; see `tune_priors`."""
    means = start.clone().requires_grad_(True)
    adam = Adam([means.data], [schedule.rate])
    average, counted = torch.zeros_like(means.data), 0
    report_every = min(_STOP_EVERY, max(1, schedule.steps // _REPORTS))
    for step in range(1, schedule.steps + 1):
        values = loss(means)
        adam.step(list(torch.autograd.grad(values.sum(), [means])), decay=_rate_factor(step / schedule.steps))
        if 2 * step > schedule.steps:
            average += means.data
            counted += 1
        if step % report_every == 0 or step == schedule.steps:
            if progress is not None:
                progress(step, schedule.steps, float(values.detach()[0]))
            if should_stop is not None and should_stop():
                break
    tuned = average / counted if counted else means.data
    return torch.where(torch.isfinite(tuned).all(dim=1, keepdim=True), tuned, start)


def _tune_scale(
    prior: DiagonalGaussian,
    loss: Callable[[Tensor], Tensor],
    steps: int,
    generator: torch.Generator,
    should_stop: ShouldStop | None,
) -> DiagonalGaussian:
    """The scale that keeps draws from the prior efficient, by the same loss."""
    log_scale = prior.log_scale.clone().requires_grad_(True)
    adam = Adam([log_scale.data], [_VARIANCE_RATE])
    for step in range(steps):
        if step % _STOP_EVERY == 0 and should_stop is not None and should_stop():
            break
        noise = standard_normal((_VARIANCE_DRAWS, prior.mean.shape[0]), generator, prior.mean.dtype)
        values = loss(prior.mean + log_scale.exp() * noise)
        adam.step(list(torch.autograd.grad(values.mean(), [log_scale])))
    return DiagonalGaussian(prior.mean, torch.where(torch.isfinite(log_scale.data), log_scale.data, prior.log_scale))


def _rate_factor(share: float) -> float:
    """A short warm-up, then a cosine down to a tenth."""
    if share < _WARM_UP:
        return share / _WARM_UP
    return 0.55 + 0.45 * math.cos(math.pi * share)
