"""Models to calibrate."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from safetensors.numpy import save

from certiset.core.resources import Model
from certiset.service.client.collection import Collection

File = str | os.PathLike[str]


class Models(Collection[Model]):
    path = "/models"
    resource = Model

    def rename(self, id: str, name: str) -> Model:
        """A new name; certificates keep the one that they were issued with."""
        return self._rename(id, name)

    def upload(
        self,
        manifest: Mapping[str, Any],
        *,
        weights: File | Mapping[str, ArrayLike] | None = None,
        onnx: File | None = None,
        backbone: File | None = None,
    ) -> Model:
        """A manifest with weights, a .safetensors file or arrays by name, and for an ONNX backbone its .onnx file.

        ``backbone`` is an older name of ``onnx``.
        """
        parts: dict[str, Any] = {"manifest": (None, json.dumps(dict(manifest)))}
        if isinstance(weights, Mapping):
            parts["weights"] = ("weights.safetensors", _packed(weights))
        elif weights is not None:
            parts["weights"] = (Path(weights).name, Path(weights).read_bytes())
        graph = onnx if onnx is not None else backbone
        if graph is not None:
            # By the name that servers of every version know.
            parts["backbone"] = (Path(graph).name, Path(graph).read_bytes())
        return self._connection.ask(Model, "POST", self.path, files=lambda: parts)

    def delete(self, id: str) -> None:
        """Removes the model; predictors and certificates made with it go on working."""
        super().delete(id)


def _packed(weights: Mapping[str, ArrayLike]) -> bytes:
    return save({name: np.ascontiguousarray(array) for name, array in weights.items()})
