r"""Our optimizer: one loop of stochastic gradient steps, projected on the KL ball.

In whitened coordinates m = (mean - mean_P) / scale_P and r = log(scale / scale_P) the prior is the origin and the
ball is {½ Σ (e^{2r} - 1 - 2r + m²) <= budget}, a convex set around it. Each step of Adam is followed by a move
towards the origin along the ray if the ball was left. The mean of the second half of the iterates is returned: it
lies in the ball because the ball is convex, and has less noise than the last iterate. All problems of the grid run as
one batch, and nothing in the loop waits for the device.
"""

import math

import torch
from torch import Tensor

from certiset.core.posterior.gaussian import DiagonalGaussian, whitened_kl
from certiset.core.posterior.kl_ball import finished, unwhiten
from certiset.core.posterior.optimizer import (
    Adam,
    Callback,
    Loss,
    Report,
    Result,
    ShouldStop,
    Status,
    standard_normal,
)

_CONVERGED = 1e-3
_GLANCES = 20
"""reports of a short run, each of which waits for the device"""
_LARGEST_SHIFT = 0.25


def minimise_projected(
    prior: DiagonalGaussian,
    budgets: list[float],
    loss: Loss,
    *,
    steps: int,
    draws: int,
    generator: torch.Generator,
    rate: float = 0.2,
    report_every: int = 50,
    progress: Callback | None = None,
    should_stop: ShouldStop | None = None,
) -> Result:
    """Minimises E_{theta~Q} loss over Q in the KL ball around ``prior`` (d,), for each budget at once.

    ``generator`` must live on the prior's device.
    ``rate`` is in units of the root-mean-square shift that the budget allows a coordinate, or of a quarter of the
    prior's scale where it allows more.
    """
    dimension, device, dtype = prior.mean.shape[-1], prior.mean.device, prior.mean.dtype
    ball = torch.tensor(budgets, device=device, dtype=dtype)
    shift = torch.zeros(len(budgets), dimension, device=device, dtype=dtype, requires_grad=True)
    spread = torch.zeros_like(shift, requires_grad=True)
    stride = rate * (2 * ball / dimension).sqrt().clamp(max=_LARGEST_SHIFT).unsqueeze(1)
    adam = Adam([shift.data, spread.data], [stride, stride])
    averages = [torch.zeros_like(shift.data), torch.zeros_like(spread.data)]
    averaged = 0
    running = torch.zeros(len(budgets), device=device, dtype=dtype)
    losses: list[list[float]] = []
    status: Status = "steps_exhausted"
    taken = 0
    glance_every, glimpsed = min(report_every, max(1, steps // _GLANCES)), torch.zeros_like(running)
    for step in range(1, steps + 1):
        noise = standard_normal((len(budgets), draws, dimension), generator, dtype)
        values = loss(unwhiten(prior, shift, spread, noise))
        gradients = torch.autograd.grad(values.sum(), [shift, spread])
        adam.step(list(gradients), decay=math.cos(0.5 * math.pi * (step - 1) / steps))
        _pull_inside(shift.data, spread.data, ball)
        running += values.detach()
        glimpsed += values.detach()
        taken = step
        if 2 * step > steps:
            averages[0] += shift.data
            averages[1] += spread.data
            averaged += 1
        if progress is not None and step % glance_every == 0:
            kl = whitened_kl(shift.data, spread.data).tolist()
            progress(Report(step, steps, (glimpsed / glance_every).tolist(), kl, budgets))
            glimpsed.zero_()
        if step % report_every == 0 or step == steps:
            since = report_every if step % report_every == 0 else step % report_every
            losses.append((running / since).tolist())
            running.zero_()
            if not all(map(math.isfinite, losses[-1])):
                status = "diverged"
                break
            if should_stop is not None and should_stop():
                status = "stopped"
                break
            if _settled(losses):
                status = "converged"
                break
    if status in ("diverged", "stopped"):
        shift_, spread_ = torch.zeros_like(shift.data), torch.zeros_like(spread.data)
    elif averaged:
        shift_, spread_ = averages[0] / averaged, averages[1] / averaged
    else:
        shift_, spread_ = shift.data, spread.data
    return finished(prior, shift_, spread_, budgets, status, taken, losses)


@torch.no_grad()
def _pull_inside(shift: Tensor, spread: Tensor, ball: Tensor) -> None:
    """Towards the origin along the ray by sqrt(budget / KL), exact for shifts and close for scales; twice."""
    for _ in range(2):
        factor = (ball / whitened_kl(shift, spread).clamp(min=1e-30)).sqrt().clamp(max=1.0).unsqueeze(1)
        shift.mul_(factor)
        spread.mul_(factor)


def _settled(losses: list[list[float]]) -> bool:
    """Whether none of the last three reports improved any problem's loss by more than a thousandth."""
    if len(losses) < 4:
        return False
    best = [min(column) for column in zip(*losses[:-3], strict=True)]
    recent = [min(column) for column in zip(*losses[-3:], strict=True)]
    return all(new > old - _CONVERGED * abs(old) for new, old in zip(recent, best, strict=True))
