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

from core.posterior.gaussian import DiagonalGaussian, whitened_kl
from core.posterior.optimizing import (
    MESSAGES,
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
_BISECTIONS = 60
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
    for step in range(1, steps + 1):
        noise = standard_normal((len(budgets), draws, dimension), generator, dtype)
        values = loss(unwhiten(prior, shift, spread, noise))
        gradients = torch.autograd.grad(values.sum(), [shift, spread])
        adam.step(list(gradients), decay=math.cos(0.5 * math.pi * (step - 1) / steps))
        _pull_inside(shift.data, spread.data, ball)
        running += values.detach()
        taken = step
        if 2 * step > steps:
            averages[0] += shift.data
            averages[1] += spread.data
            averaged += 1
        if step % report_every == 0 or step == steps:
            since = report_every if step % report_every == 0 else step % report_every
            losses.append((running / since).tolist())
            running.zero_()
            if not all(map(math.isfinite, losses[-1])):
                status = "diverged"
                break
            if progress is not None:
                kl = whitened_kl(shift.data, spread.data).tolist()
                progress(Report(step, steps, losses[-1], kl, budgets))
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
    shift_, spread_ = inside(shift_, spread_, ball)
    return Result(
        DiagonalGaussian(
            prior.mean + prior.log_scale.exp() * shift_,
            prior.log_scale + spread_,
        ),
        status,
        MESSAGES[status],
        taken,
        whitened_kl(shift_.double(), spread_.double()).tolist(),
        budgets,
        losses,
    )


def unwhiten(prior: DiagonalGaussian, shift: Tensor, spread: Tensor, noise: Tensor) -> Tensor:
    """theta (G, S, d) = mean_P + scale_P (m + e^r noise)."""
    return prior.mean + prior.log_scale.exp() * (shift.unsqueeze(1) + spread.exp().unsqueeze(1) * noise)


@torch.no_grad()
def _pull_inside(shift: Tensor, spread: Tensor, ball: Tensor) -> None:
    """Towards the origin along the ray by sqrt(budget / KL), exact for shifts and close for scales; twice."""
    for _ in range(2):
        factor = (ball / whitened_kl(shift, spread).clamp(min=1e-30)).sqrt().clamp(max=1.0).unsqueeze(1)
        shift.mul_(factor)
        spread.mul_(factor)


@torch.no_grad()
def inside(shift: Tensor, spread: Tensor, ball: Tensor) -> tuple[Tensor, Tensor]:
    """The farthest point of each ray that is surely within its ball, by bisection in float64."""
    m, r, limit = shift.double(), spread.double(), ball.double() * (1 - 1e-6)
    low, high = torch.zeros_like(limit), torch.ones_like(limit)
    within = whitened_kl(m, r) <= limit
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        good = whitened_kl(middle.unsqueeze(1) * m, middle.unsqueeze(1) * r) <= limit
        low, high = torch.where(good, middle, low), torch.where(good, high, middle)
    factor = torch.where(within, torch.ones_like(low), low).unsqueeze(1)
    return (factor * m).to(shift.dtype), (factor * r).to(spread.dtype)


def _settled(losses: list[list[float]]) -> bool:
    """Whether none of the last three reports improved any problem's loss by more than a thousandth."""
    if len(losses) < 4:
        return False
    best = [min(column) for column in zip(*losses[:-3], strict=True)]
    recent = [min(column) for column in zip(*losses[-3:], strict=True)]
    return all(new > old - _CONVERGED * abs(old) for new, old in zip(recent, best, strict=True))
