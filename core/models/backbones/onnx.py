"""Any framework's model as an ONNX file, run by onnxruntime from bytes: files beside it are never read."""

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from certiset.core.errors import ModelError, first_line
from certiset.core.models.backbones.base import Backbone, BackboneSpec

_TENSOR = "onnx"
"""holds the file's bytes among the backbone's tensors"""


class OnnxSpec(BackboneSpec):
    kind = "onnx"
    is_foreign = True

    def build(self, weights: Mapping[str, Tensor], onnx: bytes | None) -> Backbone:
        if onnx is None and _TENSOR in weights:
            onnx = weights[_TENSOR].numpy().tobytes()
        if onnx is None:
            raise ModelError("backbone.kind is onnx, but no .onnx file was given.", field="backbone.kind")
        return _OnnxBackbone(onnx)


class _OnnxBackbone:
    def __init__(self, content: bytes) -> None:
        import onnxruntime  # noqa: PLC0415 (only those who bring an ONNX model pay for it)

        try:
            self.session = onnxruntime.InferenceSession(content, providers=onnxruntime.get_available_providers())
        except Exception as error:  # onnxruntime raises several kinds, none of them documented
            raise ModelError(f"The ONNX model cannot be loaded: {first_line(error)[:300]}") from None
        inputs = self.session.get_inputs()
        if len(inputs) != 1:
            raise ModelError(f"The ONNX model must have one input, not {len(inputs)}.")
        self.content = content
        self.input = inputs[0]

    def features(self, x: Tensor) -> Tensor:
        dtype = np.float64 if "double" in self.input.type else np.float32
        try:
            outputs = self.session.run(None, {self.input.name: x.cpu().numpy().astype(dtype)})
        except Exception as error:
            raise ModelError(f"The ONNX model failed on its input: {first_line(error)[:300]}") from None
        last = np.asarray(outputs[-1])
        if last.dtype.kind != "f" or len(last) != len(x):
            raise ModelError("The last output of the ONNX model must be floats, one row for each input.")
        return torch.from_numpy(last.reshape(len(x), -1)).to(x.device, x.dtype)

    def tensors(self) -> dict[str, Tensor]:
        return {f"backbone.{_TENSOR}": torch.frombuffer(bytearray(self.content), dtype=torch.uint8)}
