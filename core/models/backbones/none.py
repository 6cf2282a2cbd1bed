"""No backbone: the input itself, flattened."""

from collections.abc import Mapping

from torch import Tensor

from certiset.core.graphs import PROVED, GraphOpener
from certiset.core.models.backbones.base import Backbone, BackboneSpec


class NoneSpec(BackboneSpec):
    kind = "none"
    is_quick = True

    def build(self, weights: Mapping[str, Tensor], onnx: bytes | None, graphs: GraphOpener | None) -> Backbone:
        return _Identity()


class _Identity:
    row_proof = PROVED

    def features(self, x: Tensor) -> Tensor:
        return x if x.dim() == 2 else x.flatten(1)

    def tensors(self) -> dict[str, Tensor]:
        return {}
