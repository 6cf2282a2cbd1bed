"""Models to calibrate."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from safetensors.numpy import save

from service.client.answers import Model
from service.client.connection import Connection, part

File = str | os.PathLike[str]


class Models:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def upload(
        self,
        manifest: Mapping[str, Any],
        *,
        weights: File | Mapping[str, ArrayLike] | None = None,
        backbone: File | None = None,
    ) -> Model:
        """A manifest with weights, a .safetensors file or arrays by name, and for an ONNX backbone its .onnx file."""
        parts: dict[str, Any] = {"manifest": (None, json.dumps(dict(manifest)))}
        if isinstance(weights, Mapping):
            arrays = {name: np.ascontiguousarray(array) for name, array in weights.items()}
            parts["weights"] = ("weights.safetensors", save(arrays))
        elif weights is not None:
            parts["weights"] = (Path(weights).name, Path(weights).read_bytes())
        if backbone is not None:
            parts["backbone"] = (Path(backbone).name, Path(backbone).read_bytes())
        response = self._connection.send("POST", "/models", files=lambda: parts)
        return Model.model_validate_json(response.content)

    def list(self) -> Iterator[Model]:
        """All of them, newest first."""
        return (Model.model_validate(item) for item in self._connection.pages("/models"))

    def get(self, id: str) -> Model:
        return self._connection.get(Model, f"/models/{part(id)}")
