"""A frozen model whose head can be tuned: features once, then the head for any parameters."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from certiset.core.digests import model_sha256
from certiset.core.errors import ModelError, first_line
from certiset.core.graphs import GraphOpener, RowsWord
from certiset.core.models.backbones import Backbone
from certiset.core.models.backbones.in_process import InProcessBackbone
from certiset.core.models.heads import Head
from certiset.core.models.manifest import Manifest, OutputKind
from certiset.core.models.probabilities import logits_of
from certiset.core.models.sources import EstimatorModel, FunctionModel, OnnxModel, TorchModel, UnboundModel
from certiset.core.models.table_rows import TableRows
from certiset.core.models.weights import read_file, read_weights
from certiset.core.tasks import Task

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

    @staticmethod
    def from_sklearn(estimator: Any) -> UnboundModel:
        """A fitted classifier, regressor or pipeline of scikit-learn, or what has the same methods."""
        return EstimatorModel(estimator)

    @staticmethod
    def from_torch(
        module: nn.Module,
        input_shape: Sequence[int] | None = None,
        *,
        head: str | None = None,
        task: Task | None = None,
        labels: Sequence[str] | None = None,
        outputs: OutputKind | None = None,
        name: str | None = None,
    ) -> UnboundModel:
        """A trained module; ``head`` names its last linear layer, where that is not found by itself."""
        return TorchModel(module, head, input_shape, task, labels, outputs, name)

    @staticmethod
    def from_onnx(
        onnx: str | Path | bytes,
        *,
        task: Task | None = None,
        labels: Sequence[str] | None = None,
        outputs: OutputKind | None = None,
        columns: Sequence[str] | None = None,
    ) -> UnboundModel:
        """An ONNX file, or its bytes; ``columns`` are its inputs in their order, where x is a table."""
        return OnnxModel(onnx, task, labels, outputs, columns)

    @staticmethod
    def from_predict(
        function: Callable[[Any], Any],
        *,
        task: Task | None = None,
        labels: Sequence[str] | None = None,
        outputs: OutputKind | None = None,
        name: str | None = None,
    ) -> UnboundModel:
        """A function from rows, as they are given to `fit`, to one row of outputs for each."""
        return FunctionModel(function, task, labels, outputs, name)

    @property
    def rows(self) -> RowsWord:
        """``proved``: a batch is computed as its rows would be one by one; ``one_by_one``: every row is a call.

        ``assumed``: a model in memory, of which some rows were compared alone and in company.
        """
        return self.backbone.row_proof.rows

    @property
    def rows_reason(self) -> str | None:
        """What the proof does not reach, where rows are computed one by one."""
        return self.backbone.row_proof.reason

    @property
    def outputs(self) -> int:
        return self.head.outputs

    @property
    def is_in_process(self) -> bool:
        """Whether it is an object in memory, which cannot be stored as it is."""
        return self.manifest.backbone.is_in_process

    @property
    def takes_missing(self) -> bool:
        """Whether missing numbers are the model's own business."""
        return self.is_in_process

    @property
    def reader(self) -> TableRows | None:
        """Who reads tables that the model takes as they are; None where rows are arrays of numbers."""
        return getattr(self.backbone, "reader", None)

    def features(self, x: NDArray[Any], device: torch.device, dtype: torch.dtype) -> Tensor:
        """(n, features): what the backbone makes of the inputs, in chunks, each input seen once."""
        if 0 < len(x) <= CHUNK:
            return self._features(x, device, dtype)
        return torch.cat([self._features(x[i : i + CHUNK], device, dtype) for i in range(0, len(x), CHUNK)])

    def _features(self, x: NDArray[Any], device: torch.device, dtype: torch.dtype) -> Tensor:
        if isinstance(self.backbone, InProcessBackbone):
            # What is no code of ours gets the numbers as they were given.
            return self._as_logits(self.backbone.of_rows(x)).to(device, dtype)
        rows = np.ascontiguousarray(x)
        # torch warns of arrays that it may not write to, which it does not do here.
        rows = rows if rows.flags.writeable else rows.copy()
        return self.features_of(torch.from_numpy(rows).to(device, dtype))

    def features_of(self, x: Tensor) -> Tensor:
        """(n, features) of at most a chunk of inputs that are on the device, by a backbone that is not in process."""
        found = self._as_logits(self.backbone.features(x))
        return found if found.dtype is x.dtype and found.device == x.device else found.to(x.device, x.dtype)

    def _as_logits(self, found: Tensor) -> Tensor:
        return logits_of(found) if self.manifest.outputs == "probabilities" else found

    def given_outputs(self, features: Tensor) -> Tensor:
        """(n, outputs): what the head says with the parameters that it came with."""
        if not self.manifest.head.has_layers:
            return features
        return self.head.forward(self.head_parameters.to(features).unsqueeze(0), features)[0]

    def tensors(self) -> dict[str, Tensor]:
        """All weights under the names of the weights file."""
        return self.backbone.tensors() | self.manifest.head.tensors(self.head_parameters)

    @property
    def sha256(self) -> str:
        """Of the manifest and every weight, in the order of their names."""
        return self._sha256({})

    def fingerprint(self, features: Tensor) -> str:
        """Its hash; a model in memory, whose weights nobody knows, is known by the features of the given rows."""
        return self._sha256({"features": features.cpu()} if self.is_in_process else {})

    def _sha256(self, further: dict[str, Tensor]) -> str:
        tensors = self.tensors() | further
        return model_sha256(self.manifest.to_json(), {name: value.numpy() for name, value in tensors.items()})
