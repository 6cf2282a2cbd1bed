"""A frozen model whose head can be tuned: features once, then the head for any parameters."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load
from torch import Tensor

from core.errors import ModelError
from core.models.backbones import Backbone, make_backbone
from core.models.manifest import Manifest
from core.posterior.network import Adapter, Mlp

CHUNK = 4096


@dataclass(frozen=True)
class Model:
    manifest: Manifest
    backbone: Backbone
    head: Mlp | Adapter
    head_parameters: Tensor
    """(d,): the head's parameters as given, flat; zeros for an identity head, which they leave as it is"""

    @classmethod
    def from_manifest(
        cls,
        manifest: Manifest | Mapping[str, Any] | str,
        weights: str | Path | Mapping[str, Any] | None = None,
        *,
        onnx: str | Path | bytes | None = None,
    ) -> "Model":
        """From a manifest and weights: a safetensors path, or a mapping of arrays; ``onnx`` is a path or the bytes."""
        described = Manifest.parse(manifest)
        tensors = _read(weights)
        stored = tensors.pop("backbone.onnx", None)
        if stored is not None and onnx is None:
            onnx = stored.numpy().tobytes()
        inner = {k.removeprefix("backbone."): v for k, v in tensors.items() if k.startswith("backbone.")}
        content = onnx if isinstance(onnx, bytes) or onnx is None else _bytes(onnx)
        backbone = make_backbone(described, inner, content)
        try:
            probe = backbone.features(torch.zeros(2, *described.input_shape))
        except RuntimeError as error:
            raise ModelError(f"the backbone does not take inputs of shape {described.input_shape}: {error}") from None
        width = int(probe.shape[1])
        head: Mlp | Adapter
        if described.head == "mlp":
            head = Mlp(described.widths, described.activation)
            if head.widths[0] != width:
                raise ModelError(f"head.widths starts with {head.widths[0]}, but the backbone gives {width} features.")
            parameters = _head_parameters(head, tensors)
        else:
            head = Adapter(width)
            parameters = torch.zeros(head.parameters)
            if described.classes is not None and width != described.classes:
                raise ModelError(f"with an identity head the {width} features must be the {described.classes} classes.")
        return cls(described, backbone, head, parameters)

    @property
    def outputs(self) -> int:
        return self.head.outputs

    def features(self, x: NDArray[Any], device: torch.device, dtype: torch.dtype) -> Tensor:
        """(n, features): the backbone's answer, in chunks, each input seen once."""
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
        answer = dict(self.backbone.tensors())
        if isinstance(self.head, Mlp):
            for layer, (weight, bias) in enumerate(self.head.split(self.head_parameters.unsqueeze(0))):
                answer[f"head.{layer}.weight"] = weight[0].contiguous()
                answer[f"head.{layer}.bias"] = bias[0].contiguous()
        return answer

    @property
    def sha256(self) -> str:
        """Of the manifest and every weight, in the order of their names."""
        digest = hashlib.sha256(repr(sorted(self.manifest.to_json().items())).encode())
        for name, tensor in sorted(self.tensors().items()):
            digest.update(f"{name}{tuple(tensor.shape)}".encode())
            digest.update(tensor.contiguous().numpy().tobytes())
        return digest.hexdigest()


def _bytes(file: str | Path) -> bytes:
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise ModelError(f"{file} cannot be read: {error.strerror}.") from None


def _read(weights: str | Path | Mapping[str, Any] | None) -> dict[str, Tensor]:
    if weights is None:
        return {}
    if isinstance(weights, Mapping):
        try:
            arrays = {str(k): torch.as_tensor(v).detach().cpu() for k, v in weights.items()}
        except (TypeError, ValueError, RuntimeError) as error:
            raise ModelError(f"the weights must be arrays of numbers: {error}.") from None
    else:
        try:
            arrays = load(_bytes(weights))
        except SafetensorError as error:
            raise ModelError(f"the weights are not a safetensors file: {error}.") from None
    for name, array in arrays.items():
        if array.is_floating_point() and not torch.isfinite(array).all():
            raise ModelError(f"weight {name} holds a number that is not finite.")
    return {k: v if v.dtype in (torch.uint8, torch.int64) else v.float() for k, v in arrays.items()}


def _head_parameters(head: Mlp, tensors: Mapping[str, Tensor]) -> Tensor:
    parts = []
    for layer, (inputs, outputs) in enumerate(head.layers):
        for name, shape in ((f"head.{layer}.weight", (outputs, inputs)), (f"head.{layer}.bias", (outputs,))):
            if name not in tensors:
                raise ModelError(f"the weights lack {name}.")
            if tuple(tensors[name].shape) != shape:
                raise ModelError(f"{name} must have shape {shape}, not {tuple(tensors[name].shape)}.")
            parts.append(tensors[name].flatten())
    return torch.cat(parts)
