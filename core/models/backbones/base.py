"""What every backbone knows: its part of the manifest, how it is built, and what building and running it costs."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self

from torch import Tensor

from certiset.core.graphs import GraphOpener, RowProof
from certiset.core.models.fields import check_known, text


class Backbone(Protocol):
    """A frozen feature extractor: from an input to the vector that the head sees."""

    @property
    def row_proof(self) -> RowProof:
        """Whether the rows of a batch are known to be treated one by one; if not, each is computed alone."""
        ...

    def features(self, x: Tensor) -> Tensor:
        """(n, features) for a chunk of inputs (n, *input_shape)."""
        ...

    def tensors(self) -> dict[str, Tensor]:
        """Everything needed to build it again, under the names of the weights file."""
        ...


@dataclass(frozen=True)
class BackboneSpec(ABC):
    """The manifest's ``backbone``."""

    kind: ClassVar[str]
    is_quick: ClassVar[bool] = False
    """whether a few inputs take so little time that a server computes them between two requests"""
    is_foreign: ClassVar[bool] = False
    """whether it is a program that came with the model, and not our own code"""

    is_in_process: ClassVar[bool] = False
    """whether it is an object in memory, which takes rows as they are and cannot be stored"""

    name: str | None = None

    @classmethod
    def parse(cls, fields: Mapping[str, Any]) -> Self:
        check_known("backbone", fields, ("kind", "name"), prefix="backbone.")
        return cls(text("backbone.name", fields["name"]) if "name" in fields else None)

    def to_json(self) -> dict[str, Any]:
        """What `parse` reads back."""
        return {"kind": self.kind} | ({"name": self.name} if self.name else {})

    @abstractmethod
    def build(self, weights: Mapping[str, Tensor], onnx: bytes | None, graphs: GraphOpener | None) -> Backbone:
        """From the tensors of the weights file, named without the ``backbone.`` in front, and an ONNX file.

        A foreign graph runs in a process of ``graphs``, or in this one if there are none.
        """
