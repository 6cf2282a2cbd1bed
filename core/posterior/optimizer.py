"""What the optimizers share: the problem, the report, the result, and a step of Adam without host synchronisation."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import torch
from torch import Tensor

from certiset.core.posterior.gaussian import DiagonalGaussian

Loss: TypeAlias = Callable[[Tensor], Tensor]
"""theta (G, S, d), one group of S draws for each of G problems, to the loss of each problem, (G,)"""

Status: TypeAlias = Literal["converged", "steps_exhausted", "diverged", "stopped"]

MESSAGES: dict[Status, str] = {
    "converged": "The loss settled.",
    "steps_exhausted": "All steps were taken.",
    "diverged": "The loss was no longer finite, so the prior is kept.",
    "stopped": "The fit was asked to stop, so the prior is kept.",
}


@dataclass(frozen=True)
class Report:
    """How far an optimizer is; made every so many steps, never at each."""

    step: int
    steps: int
    loss: list[float]
    """one per problem"""
    kl: list[float]
    budget: list[float]


@dataclass(frozen=True)
class Result:
    """What an optimizer returns: posteriors that are always within their budgets."""

    posterior: DiagonalGaussian
    """(G, d)"""
    status: Status
    message: str
    steps: int
    kl: list[float]
    budget: list[float]
    losses: list[list[float]] = field(default_factory=list)
    """the reported losses, one list a report"""


def standard_normal(shape: tuple[int, ...], generator: torch.Generator, dtype: torch.dtype) -> Tensor:
    """Noise made where the generator lives, so that no step copies it from the host."""
    return torch.randn(shape, generator=generator, device=generator.device, dtype=dtype)


Callback: TypeAlias = Callable[[Report], None]
ShouldStop: TypeAlias = Callable[[], bool]


@dataclass
class Adam:
    """Adam on tensors that are updated in place; bias correction uses the step count on the host."""

    parameters: list[Tensor]
    rates: list[Tensor | float]
    betas: tuple[float, float] = (0.9, 0.999)
    epsilon: float = 1e-8

    def __post_init__(self) -> None:
        self.first = [torch.zeros_like(p) for p in self.parameters]
        self.second = [torch.zeros_like(p) for p in self.parameters]
        self.count = 0

    @torch.no_grad()
    def step(self, gradients: list[Tensor], decay: float = 1.0) -> None:
        """One step; ``decay`` multiplies the learning rates."""
        self.count += 1
        one, two = self.betas
        correction = (1 - two**self.count) ** 0.5 / (1 - one**self.count)
        for parameter, gradient, first, second, rate in zip(
            self.parameters, gradients, self.first, self.second, self.rates, strict=True
        ):
            first.mul_(one).add_(gradient, alpha=1 - one)
            second.mul_(two).addcmul_(gradient, gradient, value=1 - two)
            parameter.sub_(decay * correction * rate * first / (second.sqrt() + self.epsilon))
