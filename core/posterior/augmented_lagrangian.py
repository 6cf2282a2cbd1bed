r"""The paper's optimizer: an augmented Lagrangian over (mean, log scale, slack).

    minimise  loss(Q) + λ c + (ρ/2) c²,   c = KL(Q‖P) - budget + s,   s >= 0

by Adam in each outer round, s clamped at 0 after every step; then λ <- λ + ρ c, and ρ grows where c did not shrink.
The best posterior that met its budget at the end of a round is kept; if none did, the last one is pulled inside.
"""

import math

import torch

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

_PENALTY_START = 0.1
_PENALTY_GROWTH = 4.0
_PENALTY_LARGEST = 1e4
_MET = 1e-3
_UNCHANGED = 1e-3


def minimise_augmented_lagrangian(
    prior: DiagonalGaussian,
    budgets: list[float],
    loss: Loss,
    *,
    outer: int = 7,
    inner: int = 2000,
    draws: int = 1,
    rate: float = 1e-3,
    generator: torch.Generator,
    report_every: int = 100,
    progress: Callback | None = None,
    should_stop: ShouldStop | None = None,
) -> Result:
    """The paper's settings are the defaults; each budget is a problem of its own, run as one batch."""
    groups, dimension, device, dtype = len(budgets), prior.mean.shape[-1], prior.mean.device, prior.mean.dtype
    ball = torch.tensor(budgets, device=device, dtype=dtype)
    scale = prior.log_scale.exp()
    mean = torch.zeros(groups, dimension, device=device, dtype=dtype, requires_grad=True)  # minus the prior's
    spread = torch.zeros_like(mean, requires_grad=True)
    slack = ball.clone().requires_grad_(True)  # c = 0 at the prior
    multiplier, penalty = torch.zeros_like(ball), torch.full_like(ball, _PENALTY_START)
    previous = torch.full_like(ball, math.inf)
    best = torch.full_like(ball, math.inf)
    kept = [torch.zeros_like(mean.data), torch.zeros_like(spread.data)]
    losses: list[list[float]] = []
    rounds: list[list[float]] = []
    status: Status = "steps_exhausted"
    taken = 0
    for _round in range(outer):
        adam = Adam([mean.data, spread.data, slack.data], [rate, rate, rate])
        running, counted = torch.zeros_like(ball), 0
        for _ in range(inner):
            noise = standard_normal((groups, draws, dimension), generator, dtype)
            values = loss(unwhiten(prior, mean / scale, spread, noise))
            constraint = whitened_kl(mean / scale, spread) - ball + slack
            total = values + multiplier * constraint + 0.5 * penalty * constraint.square()
            adam.step(list(torch.autograd.grad(total.sum(), [mean, spread, slack])))
            slack.data.clamp_(min=0)
            running += values.detach()
            counted += 1
            taken += 1
            if taken % report_every == 0:
                losses.append((running / counted).tolist())
                if progress is not None:
                    kl = whitened_kl(mean.data / scale, spread.data).tolist()
                    progress(Report(taken, outer * inner, losses[-1], kl, budgets))
                if should_stop is not None and should_stop():
                    status = "stopped"
                    break
        with torch.no_grad():
            average = running / max(counted, 1)
            kl_now = whitened_kl(mean / scale, spread)
            better = (kl_now <= ball) & (average < best) & torch.isfinite(average)
            best = torch.where(better, average, best)
            kept = [torch.where(better.unsqueeze(1), v.data, k) for v, k in zip((mean, spread), kept, strict=True)]
            violation = kl_now - ball + slack
            multiplier = multiplier + penalty * violation
            grown = (penalty * _PENALTY_GROWTH).clamp(max=_PENALTY_LARGEST)
            penalty = torch.where(violation.abs() > 0.5 * previous, grown, penalty)
            previous = violation.abs()
        if status == "stopped":
            break
        rounds.append(average.tolist())
        if not all(map(math.isfinite, rounds[-1])):
            status = "diverged"
            break
        if _settled(rounds, (previous / ball).tolist()):
            status = "converged"
            break
    with torch.no_grad():
        if status == "stopped":
            kept = [torch.zeros_like(mean.data), torch.zeros_like(spread.data)]
        elif status != "diverged":
            never = torch.isinf(best).unsqueeze(1)
            kept = [torch.where(never, v.data, k) for v, k in zip((mean, spread), kept, strict=True)]
    return finished(prior, kept[0] / scale, kept[1], budgets, status, taken, losses)


def _settled(rounds: list[list[float]], violations: list[float]) -> bool:
    """Whether the last round met every budget closely and changed no loss by more than a thousandth."""
    if len(rounds) < 2 or max(violations) > _MET:
        return False
    return all(abs(new - old) <= _UNCHANGED * abs(old) for new, old in zip(rounds[-1], rounds[-2], strict=True))
