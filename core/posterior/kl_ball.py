"""The KL ball around a prior, in whitened coordinates m = (mean - mean_P) / scale_P and r = log(scale / scale_P)."""

import torch
from torch import Tensor

from certiset.core.posterior.gaussian import DiagonalGaussian, whitened_kl
from certiset.core.posterior.optimizer import MESSAGES, Result, Status

_BISECTIONS = 60


def unwhiten(prior: DiagonalGaussian, shift: Tensor, spread: Tensor, noise: Tensor) -> Tensor:
    """theta (G, S, d) = mean_P + scale_P (m + e^r noise)."""
    return prior.mean + prior.log_scale.exp() * (shift.unsqueeze(1) + spread.exp().unsqueeze(1) * noise)


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


def finished(
    prior: DiagonalGaussian,
    shift: Tensor,
    spread: Tensor,
    budgets: list[float],
    status: Status,
    steps: int,
    losses: list[list[float]],
) -> Result:
    """What an optimizer returns: its point (G, d), brought surely within the balls."""
    ball = torch.tensor(budgets, device=shift.device, dtype=shift.dtype)
    shift, spread = inside(shift, spread, ball)
    return Result(
        DiagonalGaussian(prior.mean + prior.log_scale.exp() * shift, prior.log_scale + spread),
        status,
        MESSAGES[status],
        steps,
        whitened_kl(shift.double(), spread.double()).tolist(),
        budgets,
        losses,
    )
