"""Any framework's model as an ONNX file: a graph of this process, or, on a server, one in a confined process."""

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from certiset.core.errors import ModelError
from certiset.core.graphs import Graph, GraphOpener, GraphSession, RowProof
from certiset.core.models.backbones.base import Backbone, BackboneSpec

_TENSOR = "onnx"
"""holds the file's bytes among the backbone's tensors"""


class OnnxSpec(BackboneSpec):
    kind = "onnx"
    is_foreign = True

    def build(self, weights: Mapping[str, Tensor], onnx: bytes | None, graphs: GraphOpener | None) -> Backbone:
        if onnx is None and _TENSOR in weights:
            onnx = weights[_TENSOR].numpy().tobytes()
        if onnx is None:
            raise ModelError("backbone.kind is onnx, but no .onnx file was given.", field="backbone.kind")
        return _OnnxBackbone(onnx, GraphSession(onnx) if graphs is None else graphs.open(onnx))


class _OnnxBackbone:
    def __init__(self, content: bytes, graph: Graph) -> None:
        self.content, self.graph = content, graph

    @property
    def row_proof(self) -> RowProof:
        return self.graph.row_proof

    def features(self, x: Tensor) -> Tensor:
        found = self.graph(x.cpu().numpy())
        return torch.from_numpy(np.ascontiguousarray(found.reshape(len(x), -1))).to(x.device, x.dtype)

    def tensors(self) -> dict[str, Tensor]:
        return {f"backbone.{_TENSOR}": torch.frombuffer(bytearray(self.content), dtype=torch.uint8)}
