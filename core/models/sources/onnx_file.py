"""An ONNX file: its outputs, computed for some rows, tell what it is."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from certiset.core.errors import ModelError
from certiset.core.graphs import GraphSession
from certiset.core.models.backbones import parse_backbone
from certiset.core.models.manifest import Manifest, OutputKind
from certiset.core.models.sources.base import Parts, UnboundModel, array_of, chosen, columns_of, kind_of, task_of
from certiset.core.models.weights import read_file
from certiset.core.tasks import Task


@dataclass(frozen=True, repr=False)
class OnnxModel(UnboundModel):
    file: str | Path | bytes
    task: Task | None = None
    labels: Sequence[str] | None = None
    outputs: OutputKind | None = None
    columns: Sequence[str] | None = None
    """the inputs in the order of the graph, where they are columns of a table; by default its own names for them"""

    def __post_init__(self) -> None:
        if not isinstance(self.file, str | Path | bytes):
            raise ModelError(
                f"from_onnx takes the path of an .onnx file, or its bytes, not {type(self.file).__name__}.",
                field="model",
            )

    @property
    def title(self) -> str:
        return "model" if isinstance(self.file, bytes) else Path(self.file).stem[:200]

    def parts(self, x: Any, y: Any, others: Collection[str] = ()) -> Parts:
        content = self.file if isinstance(self.file, bytes) else read_file(self.file, "onnx")
        session = GraphSession(content)
        columns = columns_of(x, others)
        if columns is not None:
            columns = list(self.columns) if self.columns is not None else session.input_names or columns
        rows = chosen(x, columns)
        said = session(rows)
        said = said.reshape(len(rows), -1)
        task = task_of(y, said.shape[1]) if self.task is None else self.task
        fields: dict[str, Any] = {
            "name": self.title,
            "task": task,
            "input_shape": list(rows.shape[1:]),
            "backbone": {"kind": "onnx"},
            **({"columns": columns} if columns is not None else {}),
        }
        if task == "classification":
            fields |= {"classes": said.shape[1], "outputs": self.outputs or kind_of(said)}
            fields |= {"labels": list(self.labels)} if self.labels is not None else {}
        manifest = Manifest.parse(fields)
        backbone = parse_backbone({"kind": "onnx"}).build({}, content, None)
        backbone.features(torch.from_numpy(array_of(rows)[:2]))
        head, parameters = manifest.head.build(said.shape[1], {}, manifest.classes)
        return Parts(manifest, backbone, head, parameters)
