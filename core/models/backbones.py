"""Frozen feature extractors: from an input to the vector that the head sees."""

import copy
from collections.abc import Mapping
from typing import Protocol

import numpy as np
import torch
from torch import Tensor, nn

from core.errors import ModelError
from core.models.manifest import Manifest


class Backbone(Protocol):
    def features(self, x: Tensor) -> Tensor:
        """(n, features) for a chunk of inputs (n, *input_shape)."""
        ...

    def tensors(self) -> dict[str, Tensor]:
        """Everything needed to build it again, under the names of the weights file."""
        ...


class NoBackbone:
    """The input itself, flattened."""

    def features(self, x: Tensor) -> Tensor:
        return x.flatten(1)

    def tensors(self) -> dict[str, Tensor]:
        return {}


class ModuleBackbone:
    """A torch module whose weights come from the weights file."""

    def __init__(self, module: nn.Module, weights: Mapping[str, Tensor]) -> None:
        try:
            module.load_state_dict(dict(weights))
        except RuntimeError as error:
            problem = " ".join(str(error).split())
            raise ModelError(f"the backbone's weights do not fit: {problem[:400]}") from None
        self.module = module.eval().requires_grad_(False)
        self._copies: dict[tuple[torch.device, torch.dtype], nn.Module] = {}

    @torch.no_grad()
    def features(self, x: Tensor) -> Tensor:
        place = (x.device, x.dtype)
        if place not in self._copies:
            # The module as given stays as it is: its weights are what the certificate's digest is of.
            self._copies[place] = copy.deepcopy(self.module).to(x.device, x.dtype)
        answer: Tensor = self._copies[place](x)
        return answer.flatten(1)

    def tensors(self) -> dict[str, Tensor]:
        return {f"backbone.{name}": value.cpu() for name, value in self.module.state_dict().items()}


class OnnxBackbone:
    """Any framework's model, run by onnxruntime from bytes: files beside it are never read."""

    def __init__(self, content: bytes) -> None:
        import onnxruntime  # noqa: PLC0415 (only those who bring an ONNX model pay for it)

        try:
            self.session = onnxruntime.InferenceSession(content, providers=onnxruntime.get_available_providers())
        except Exception as error:  # onnxruntime raises several kinds, none of them documented
            raise ModelError(f"the ONNX model cannot be loaded: {str(error).splitlines()[0][:300]}") from None
        if len(self.session.get_inputs()) != 1:
            raise ModelError(f"the ONNX model must have one input, not {len(self.session.get_inputs())}.")
        self.content = content
        self.input = self.session.get_inputs()[0]

    def features(self, x: Tensor) -> Tensor:
        dtype = np.float64 if "double" in self.input.type else np.float32
        try:
            outputs = self.session.run(None, {self.input.name: x.cpu().numpy().astype(dtype)})
        except Exception as error:
            raise ModelError(f"the ONNX model failed on its input: {str(error).splitlines()[0][:300]}") from None
        answer = np.asarray(outputs[-1])
        if answer.dtype.kind != "f" or len(answer) != len(x):
            raise ModelError("the last output of the ONNX model must be floats, one row for each input.")
        return torch.from_numpy(answer.reshape(len(x), -1)).to(x.device, x.dtype)

    def tensors(self) -> dict[str, Tensor]:
        return {"backbone.onnx": torch.frombuffer(bytearray(self.content), dtype=torch.uint8)}


def lenet5() -> nn.Module:
    """The convolutional part of LeNet-5 for 1 x 28 x 28 images: 400 features."""
    return nn.Sequential(
        nn.Conv2d(1, 6, kernel_size=5, padding=2),
        nn.Sigmoid(),
        nn.AvgPool2d(2),
        nn.Conv2d(6, 16, kernel_size=5),
        nn.Sigmoid(),
        nn.AvgPool2d(2),
        nn.Flatten(),
    )


def torchvision_features(name: str) -> nn.Module:
    """A torchvision classifier without its last layer."""
    from torchvision import models  # noqa: PLC0415 (takes a second to import)

    if name not in models.list_models(module=models):
        raise ModelError(f"torchvision has no classification model {name!r}.")
    module: nn.Module = models.get_model(name, weights=None)
    for place in ("fc", "classifier", "head", "heads"):
        if hasattr(module, place):
            setattr(module, place, nn.Identity())
            return module
    raise ModelError(f"the last layer of torchvision's {name} was not found.")


def make_backbone(manifest: Manifest, weights: Mapping[str, Tensor], onnx: bytes | None) -> Backbone:
    match manifest.backbone:
        case "none":
            return NoBackbone()
        case "onnx":
            if onnx is None:
                raise ModelError("backbone.kind is onnx, but no .onnx file was given.")
            return OnnxBackbone(onnx)
        case "lenet5":
            return ModuleBackbone(lenet5(), weights)
        case _:
            name = str(manifest.backbone_name)
            # First without memory: a manifest alone must not make anybody allocate gigabytes.
            with torch.device("meta"):
                expected = {key: value.shape for key, value in torchvision_features(name).state_dict().items()}
            if expected != {key: value.shape for key, value in weights.items()}:
                raise ModelError(f"the backbone's weights do not fit torchvision's {name}.")
            return ModuleBackbone(torchvision_features(name), weights)
