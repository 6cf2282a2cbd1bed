"""A frozen model whose head can be tuned: features once, then the head for any parameters."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from certiset.core.digests import model_sha256
from certiset.core.errors import ModelError, first_line
from certiset.core.graphs import GraphOpener, RowsWord
from certiset.core.models.backbones import Backbone
from certiset.core.models.heads import Head
from certiset.core.models.manifest import Manifest
from certiset.core.models.weights import read_file, read_weights

CHUNK = 4096
_BACKBONE = "backbone."


@dataclass(frozen=True)
class Model:
    manifest: Manifest
    backbone: Backbone
    head: Head
    head_parameters: Tensor
    """(d,): the head's parameters as given, flat; zeros for an identity head, which they leave as it is"""

    @classmethod
    def from_manifest(
        cls,
        manifest: Manifest | Mapping[str, Any] | str,
        weights: str | Path | Mapping[str, Any] | None = None,
        *,
        onnx: str | Path | bytes | None = None,
        graphs: GraphOpener | None = None,
    ) -> "Model":
        """From a manifest and weights: a safetensors path, or a mapping of arrays; ``onnx`` is a path or the bytes.

        An ONNX graph runs in this process, or in a confined one of ``graphs``, for models of strangers.
        """
        described = Manifest.parse(manifest)
        tensors = read_weights(weights)
        content = read_file(onnx, "onnx") if isinstance(onnx, str | Path) else onnx
        own = {name.removeprefix(_BACKBONE): value for name, value in tensors.items() if name.startswith(_BACKBONE)}
        backbone = described.backbone.build(own, content, graphs)
        try:
            probe = backbone.features(torch.zeros(2, *described.input_shape))
        except RuntimeError as error:
            problem = f"The backbone does not take inputs of shape {described.input_shape}: {first_line(error)}"
            raise ModelError(problem, field="input_shape") from None
        head, parameters = described.head.build(int(probe.shape[1]), tensors, described.classes)
        return cls(described, backbone, head, parameters)

    @property
    def rows(self) -> RowsWord:
        """``proved``: a batch is computed as its rows would be one by one; ``one_by_one``: every row is a call."""
        return self.backbone.row_proof.rows

    @property
    def rows_reason(self) -> str | None:
        """What the proof does not reach, where rows are computed one by one."""
        return self.backbone.row_proof.reason

    @property
    def outputs(self) -> int:
        return self.head.outputs

    def features(self, x: NDArray[Any], device: torch.device, dtype: torch.dtype) -> Tensor:
        """(n, features): what the backbone makes of the inputs, in chunks, each input seen once."""
        parts = [
            self.backbone.features(torch.from_numpy(np.ascontiguousarray(x[i : i + CHUNK])).to(device, dtype))
            for i in range(0, len(x), CHUNK)
        ]
        return parts[0] if len(parts) == 1 else torch.cat(parts)

    def given_outputs(self, features: Tensor) -> Tensor:
        """(n, outputs): what the head says with the parameters that it came with."""
        return self.head.forward(self.head_parameters.to(features).unsqueeze(0), features)[0]

    def tensors(self) -> dict[str, Tensor]:
        """All weights under the names of the weights file."""
        return self.backbone.tensors() | self.manifest.head.tensors(self.head_parameters)

    @property
    def sha256(self) -> str:
        """Of the manifest and every weight, in the order of their names."""
        return model_sha256(self.manifest.to_json(), {name: value.numpy() for name, value in self.tensors().items()})
