"""What every head knows: its part of the manifest, and how its parameters come from and go to the weights file."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self

from torch import Tensor

from certiset.core.models.fields import check_known, choice
from certiset.core.posterior.network import ACTIVATIONS


class Head(Protocol):
    """A network from features to outputs, for many draws of its parameters at once."""

    @property
    def parameters(self) -> int: ...

    @property
    def inputs(self) -> int: ...

    @property
    def outputs(self) -> int: ...

    def fan_in(self) -> Tensor:
        """(d,): for each parameter, how many inputs its layer has."""
        ...

    def forward(self, theta: Tensor, x: Tensor) -> Tensor:
        """(D, n, outputs) for theta (D, d) and features x (n, features)."""
        ...


@dataclass(frozen=True)
class HeadSpec(ABC):
    """The manifest's ``head``."""

    kind: ClassVar[str]
    has_layers: ClassVar[bool] = True
    """whether it computes anything, before it is tuned"""

    @classmethod
    @abstractmethod
    def parse(cls, fields: Mapping[str, Any], classes: int | None) -> Self:
        """From the manifest; ``classes`` is what the head's outputs must be for classification."""

    def to_json(self) -> dict[str, Any]:
        """What `parse` reads back."""
        return {"kind": self.kind}

    @abstractmethod
    def build(self, features: int, weights: Mapping[str, Tensor], classes: int | None) -> tuple[Head, Tensor]:
        """The network, and its parameters (d,) from the tensors of the weights file."""

    @abstractmethod
    def tensors(self, parameters: Tensor) -> dict[str, Tensor]:
        """The parameters (d,) under the names of the weights file."""


def parse_activation(fields: Mapping[str, Any]) -> str:
    check_known("head", fields, ("kind", "widths", "activation"), prefix="head.")
    return choice("head.activation", fields.get("activation", "relu"), ACTIVATIONS)
