"""The convolutional part of LeNet-5 for 1 x 28 x 28 images: 400 features."""

from collections.abc import Mapping

from torch import Tensor, nn

from certiset.core.graphs import GraphOpener
from certiset.core.models.backbones.base import Backbone, BackboneSpec
from certiset.core.models.backbones.module import ModuleBackbone


class Lenet5Spec(BackboneSpec):
    kind = "lenet5"

    def build(self, weights: Mapping[str, Tensor], onnx: bytes | None, graphs: GraphOpener | None) -> Backbone:
        return ModuleBackbone(lenet5(), weights)


def lenet5() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 6, kernel_size=5, padding=2),
        nn.Sigmoid(),
        nn.AvgPool2d(2),
        nn.Conv2d(6, 16, kernel_size=5),
        nn.Sigmoid(),
        nn.AvgPool2d(2),
        nn.Flatten(),
    )
