"""A torch module, split into a frozen backbone and its last linear layers, which a fit may tune.

The split is taken only where it is seen to be right: the layers behind the features must give the module's own outputs.
A module of linear layers alone is a model that can be stored; any other backbone stays a program in memory.
"""

import copy
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from certiset.core.errors import DataError, ModelError
from certiset.core.models.backbones import parse_backbone
from certiset.core.models.backbones.in_process import InProcessBackbone, InProcessSpec
from certiset.core.models.manifest import Manifest, OutputKind
from certiset.core.models.sources.base import Parts, UnboundModel, chosen, columns_of, task_of
from certiset.core.models.sources.in_memory import check_rows, parts_of
from certiset.core.models.sources.linear_layers import LinearLayers, last_layers
from certiset.core.tasks import Task


@dataclass(frozen=True, repr=False)
class TorchModel(UnboundModel):
    module: nn.Module
    head: str | None = None
    """the name of the last linear layer, such as classifier.3, where it is not found by itself"""
    input_shape: Sequence[int] | None = None
    task: Task | None = None
    labels: Sequence[str] | None = None
    outputs: OutputKind | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.module, nn.Module):
            raise ModelError(f"from_torch takes a torch module, not {type(self.module).__name__}.", field="model")

    @property
    def title(self) -> str:
        return self.name or type(self.module).__name__

    def parts(self, x: Any, y: Any, others: Collection[str] = ()) -> Parts:
        module = copy.deepcopy(self.module).cpu().eval().requires_grad_(False)
        name = self.title
        columns = columns_of(x, others)
        rows = _shaped(chosen(x, columns), self.input_shape)
        whole = ModuleFunction(module)
        check_rows(InProcessBackbone(whole, None), rows)
        layers = last_layers(module, self.head, torch.from_numpy(rows))
        if layers is None and self.head is not None:
            raise ModelError(
                f"{self.head} is not a linear layer whose outputs are the module's: name the last one, or leave head "
                "out to keep the whole module frozen.",
                field="head",
            )
        if layers is None:
            return parts_of(whole, name, x, y, others=others, task=self.task, labels=self.labels, outputs=self.outputs)
        return self._split(layers, name, rows.shape[1:], y, columns)

    def _split(
        self, layers: LinearLayers, name: str, input_shape: tuple[int, ...], y: Any, columns: list[str] | None
    ) -> Parts:
        task = task_of(y, layers.widths[-1]) if self.task is None else self.task
        weights = {
            f"head.{place}.{kind}": value.float()
            for place, layer in enumerate(layers.layers)
            for kind, value in (("weight", layer.weight), ("bias", _bias(layer)))
        }
        fields = {
            "name": name[:200],
            "task": task,
            "input_shape": list(input_shape),
            **({"classes": layers.widths[-1]} if task == "classification" else {}),
            **({"labels": list(self.labels)} if self.labels is not None else {}),
            **({"columns": columns} if columns is not None else {}),
            "head": {"kind": "mlp", "widths": layers.widths, "activation": layers.activation},
        }
        manifest = Manifest.parse(fields)
        head, parameters = manifest.head.build(layers.widths[0], weights, manifest.classes)
        if layers.backbone is None:
            return Parts(manifest, parse_backbone({"kind": "none"}).build({}, None, None), head, parameters)
        manifest = Manifest(**{**vars(manifest), "backbone": InProcessSpec(name[:200])})
        return Parts(manifest, InProcessBackbone(ModuleFunction(layers.backbone), None), head, parameters)


class ModuleFunction:
    """A module as a function of arrays, in the precision of its weights."""

    def __init__(self, module: nn.Module) -> None:
        self.module = module
        self.dtype = next((value.dtype for value in module.parameters() if value.is_floating_point()), torch.float32)

    @torch.no_grad()
    def __call__(self, rows: NDArray[Any]) -> NDArray[Any]:
        found: Tensor = self.module(torch.from_numpy(np.ascontiguousarray(rows)).to(self.dtype))
        return found.flatten(1).numpy() if found.dim() > 1 else found.numpy()


def _bias(layer: nn.Linear) -> Tensor:
    return layer.bias if layer.bias is not None else torch.zeros(layer.out_features)


def _shaped(rows: NDArray[Any], shape: Sequence[int] | None) -> NDArray[Any]:
    if shape is None:
        return rows
    if math.prod(rows.shape[1:]) != math.prod(shape):
        raise DataError(
            f"x has rows of shape {rows.shape[1:]}, which are not as many numbers as input_shape {tuple(shape)} has.",
            field="input_shape",
        )
    return rows.reshape(len(rows), *shape)
