"""A fully connected network."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import torch
from torch import Tensor

from certiset.core.errors import ModelError
from certiset.core.models.fields import refuse, whole_numbers
from certiset.core.models.heads.base import Head, HeadSpec, parse_activation
from certiset.core.posterior.network import Mlp

_MOST_LAYERS = 100


@dataclass(frozen=True)
class MlpSpec(HeadSpec):
    kind = "mlp"

    widths: tuple[int, ...]
    """inputs, hidden layers, outputs"""
    activation: str

    @classmethod
    def parse(cls, fields: Mapping[str, Any], classes: int | None) -> Self:
        activation = parse_activation(fields)
        widths = whole_numbers("head.widths", fields.get("widths"), _MOST_LAYERS)
        if len(widths) < 2:
            refuse("head.widths", "head.widths must hold at least the number of inputs and of outputs.")
        if classes is not None and widths[-1] != classes:
            refuse("head.widths", f"head.widths ends in {widths[-1]} outputs, but classes is {classes}.")
        return cls(widths, activation)

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "widths": list(self.widths), "activation": self.activation}

    def build(self, features: int, weights: Mapping[str, Tensor], classes: int | None) -> tuple[Head, Tensor]:
        if self.widths[0] != features:
            refuse(
                "head.widths", f"head.widths starts with {self.widths[0]}, but the backbone gives {features} features."
            )
        parts = []
        for name, shape in self._shapes().items():
            if name not in weights:
                raise ModelError(f"The weights lack {name}.", field="weights")
            if tuple(weights[name].shape) != shape:
                found = tuple(weights[name].shape)
                raise ModelError(f"In the weights, {name} must have shape {shape}, not {found}.", field="weights")
            parts.append(weights[name].flatten())
        return self._network, torch.cat(parts)

    def tensors(self, parameters: Tensor) -> dict[str, Tensor]:
        layers = self._network.split(parameters.unsqueeze(0))
        values = [tensor[0].contiguous() for layer in layers for tensor in layer]
        return dict(zip(self._shapes(), values, strict=True))

    @property
    def _network(self) -> Mlp:
        return Mlp(self.widths, self.activation)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        """Of the tensors in the weights file, in the order in which theta holds them."""
        shapes: dict[str, tuple[int, ...]] = {}
        for layer, (inputs, outputs) in enumerate(self._network.layers):
            shapes |= {f"head.{layer}.weight": (outputs, inputs), f"head.{layer}.bias": (outputs,)}
        return shapes
