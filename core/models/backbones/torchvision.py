"""A torchvision classifier without its last layer."""

from collections.abc import Mapping
from typing import Any, Self

import torch
from torch import Tensor, nn

from certiset.core.graphs import GraphOpener
from certiset.core.models.backbones.base import Backbone, BackboneSpec
from certiset.core.models.backbones.module import ModuleBackbone
from certiset.core.models.fields import refuse


class TorchvisionSpec(BackboneSpec):
    kind = "torchvision"

    @classmethod
    def parse(cls, fields: Mapping[str, Any]) -> Self:
        if not isinstance(fields.get("name"), str):
            refuse("backbone.name", "backbone.name must name a torchvision model, such as resnet18.")
        return super().parse(fields)

    def build(self, weights: Mapping[str, Tensor], onnx: bytes | None, graphs: GraphOpener | None) -> Backbone:
        name = str(self.name)
        if _expected(name) != {key: value.shape for key, value in weights.items()}:
            refuse("backbone.name", f"The backbone's weights do not fit torchvision's {name}.")
        return ModuleBackbone(torchvision_features(name), weights)


def _expected(name: str) -> dict[str, torch.Size]:
    """Shapes of the weights, found without memory: a manifest alone must not make anybody allocate gigabytes."""
    try:
        with torch.device("meta"):
            return {key: value.shape for key, value in torchvision_features(name).state_dict().items()}
    except NotImplementedError:
        # RegNets compute their widths with tensors, which need memory.
        refuse("backbone.name", f"torchvision's {name} is not supported as a backbone: send it as an ONNX file.")


def torchvision_features(name: str) -> nn.Module:
    from torchvision import models  # noqa: PLC0415 (takes a second to import)

    if name not in models.list_models(module=models):
        refuse("backbone.name", f"backbone.name must name a torchvision model: there is none called {name!r}.")
    module: nn.Module = models.get_model(name, weights=None)
    last = next((layer for layer in ("fc", "classifier", "head", "heads") if hasattr(module, layer)), None)
    if last is None:
        refuse("backbone.name", f"The last layer of torchvision's {name} was not found.")
    setattr(module, last, nn.Identity())
    return module
