"""Networks evaluated for many draws of their parameters at once, by batched matrix products."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor
from torch.nn import functional

from certiset.core.errors import ModelError
from certiset.core.posterior.input_units import InputUnits

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "sigmoid": torch.sigmoid,
    "relu": torch.relu,
    "tanh": torch.tanh,
}


@dataclass(frozen=True)
class Mlp:
    """A fully connected network; theta holds weight and bias of each layer, in order."""

    widths: tuple[int, ...]
    """inputs, hidden layers, outputs"""
    activation: str

    def __post_init__(self) -> None:
        if self.activation not in ACTIVATIONS:
            raise ModelError(f"activation must be one of {', '.join(ACTIVATIONS)}, not {self.activation!r}.")

    @property
    def layers(self) -> list[tuple[int, int]]:
        return list(zip(self.widths[:-1], self.widths[1:], strict=True))

    @property
    def parameters(self) -> int:
        return sum(inputs * outputs + outputs for inputs, outputs in self.layers)

    @property
    def inputs(self) -> int:
        return self.widths[0]

    @property
    def outputs(self) -> int:
        return self.widths[-1]

    def fan_in(self) -> Tensor:
        """(d,): for each parameter, how many inputs its layer has."""
        return torch.cat([torch.full((i * o + o,), float(i)) for i, o in self.layers])

    def initial(self, generator: torch.Generator) -> Tensor:
        """(d,): the usual random start, uniform within 1 / sqrt(fan_in)."""
        uniform = torch.rand(self.parameters, generator=generator, device=generator.device)
        return (2 * uniform - 1) / self.fan_in().to(generator.device).sqrt()

    def split(self, theta: Tensor) -> list[tuple[Tensor, Tensor]]:
        """theta (D, d) as weights (D, outputs, inputs) and biases (D, outputs)."""
        parts, start = [], 0
        for inputs, outputs in self.layers:
            weight = theta[:, start : start + inputs * outputs].view(-1, outputs, inputs)
            start += inputs * outputs
            parts.append((weight, theta[:, start : start + outputs]))
            start += outputs
        return parts

    def forward(self, theta: Tensor, x: Tensor) -> Tensor:
        """(D, n, outputs) for theta (D, d) and inputs x (n, inputs) shared by all draws, or (D, n, inputs)."""
        activation = ACTIVATIONS[self.activation]
        if theta.shape[0] == 1 and x.dim() == 2:
            return self._forward_one(theta[0], x, activation).unsqueeze(0)
        parts = self.split(theta)
        hidden = x.expand(theta.shape[0], -1, -1) if x.dim() == 2 else x
        for place, (weight, bias) in enumerate(parts):
            hidden = torch.baddbmm(bias.unsqueeze(1), hidden, weight.transpose(1, 2))
            if place + 1 < len(parts):
                hidden = activation(hidden)
        return hidden

    def _forward_one(self, theta: Tensor, x: Tensor, activation: Callable[[Tensor], Tensor]) -> Tensor:
        """(n, outputs) for theta (d,): the same numbers in half the calls, for serving one member."""
        parts = theta.split_with_sizes(self._lengths)
        hidden, last = x, len(parts) - 2
        for place, outputs in zip(range(0, len(parts), 2), self.widths[1:], strict=True):
            hidden = torch.addmm(parts[place + 1], hidden, parts[place].view(outputs, -1).t())
            if place < last:
                hidden = activation(hidden)
        return hidden

    @cached_property
    def _lengths(self) -> list[int]:
        """of each layer's weights and biases in theta"""
        return [length for inputs, outputs in self.layers for length in (inputs * outputs, outputs)]


@dataclass(frozen=True)
class Adapter:
    """For outputs computed elsewhere: a scale and a shift for each of them, the identity at theta = 0."""

    outputs: int

    @property
    def inputs(self) -> int:
        return self.outputs

    @property
    def parameters(self) -> int:
        return 2 * self.outputs

    def fan_in(self) -> Tensor:
        return torch.ones(self.parameters)

    def forward(self, theta: Tensor, x: Tensor) -> Tensor:
        log_scale, shift = theta.unsqueeze(1).chunk(2, dim=-1)  # (D, 1, outputs)
        return x * log_scale.exp() + shift


@dataclass(frozen=True)
class ScaleNetwork:
    """The paper's gated scale: u(x) = 1 + sigmoid(gate) (softplus(FF(x) + 0.6) - 1) > 0, FF a tanh network."""

    inputs: int
    widths: tuple[int, ...] = (128, 128)
    units: InputUnits | None = None
    """in which it takes its inputs; None: as they are"""

    @property
    def network(self) -> Mlp:
        return Mlp((self.inputs, *self.widths, 1), "tanh")

    @property
    def parameters(self) -> int:
        return 1 + self.network.parameters

    def fan_in(self) -> Tensor:
        return torch.cat([torch.ones(1), self.network.fan_in()])

    def initial(self, generator: torch.Generator) -> Tensor:
        return torch.cat([torch.zeros(1, device=generator.device), self.network.initial(generator)])

    def forward(self, theta: Tensor, x: Tensor) -> Tensor:
        """(D, n)."""
        x = x if self.units is None else self.units.applied(x)
        raw = self.network.forward(theta[:, 1:], x).squeeze(-1)
        gate = torch.sigmoid(theta[:, :1])
        # (1 - gate) + gate * softplus is a sum of positive terms; the floor is for float32, where both may vanish.
        return ((1 - gate) + gate * functional.softplus(raw + _OFFSET)).clamp(min=_FLOOR)


_OFFSET = 0.6
_FLOOR = math.exp(-14)
