"""What a model is, in JSON: read strictly, so that a wrong manifest is refused and never guessed at."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.errors import ModelError
from core.posterior.network import ACTIVATIONS
from core.scores.protocol import Task

TASKS = ("classification", "regression")
BACKBONES = ("none", "onnx", "lenet5", "torchvision")
HEADS = ("identity", "mlp")
_LARGEST_WIDTH = 1_000_000
_LARGEST_INPUT = 2**24
_MOST_DIMENSIONS = 8
_MOST_LAYERS = 100
_LONGEST_NAME = 200


@dataclass(frozen=True)
class Manifest:
    name: str
    task: Task
    input_shape: tuple[int, ...]
    """the shape of one input"""
    classes: int | None
    """number of classes, for classification"""
    backbone: str
    """none, onnx, lenet5 or torchvision"""
    backbone_name: str | None
    """which torchvision model"""
    head: str
    """identity or mlp"""
    widths: tuple[int, ...]
    """of the head: inputs, hidden layers, outputs"""
    activation: str

    @classmethod
    def parse(cls, source: "Manifest | Mapping[str, Any] | str") -> "Manifest":
        """From a mapping or JSON text; says which field is wrong and what would do."""
        if isinstance(source, Manifest):
            return source
        fields = _mapping("the manifest", _json(source) if isinstance(source, str) else source)
        _known("the manifest", fields, {"name", "task", "input_shape", "classes", "backbone", "head"})
        task = _choice("task", fields.get("task"), TASKS)
        backbone = _mapping("backbone", fields.get("backbone", {"kind": "none"}))
        _known("backbone", backbone, {"kind", "name"})
        head = _mapping("head", fields.get("head", {"kind": "identity"}))
        _known("head", head, {"kind", "widths", "activation"})
        kind = _choice("backbone.kind", backbone.get("kind"), BACKBONES)
        head_kind = _choice("head.kind", head.get("kind"), HEADS)
        if kind == "torchvision" and not isinstance(backbone.get("name"), str):
            raise ModelError("backbone.name must name a torchvision model, such as resnet18.")
        widths = _shape("head.widths", head.get("widths")) if head_kind == "mlp" else ()
        if head_kind == "mlp" and len(widths) < 2:
            raise ModelError("head.widths must hold at least the number of inputs and of outputs.")
        manifest = cls(
            name=_name("name", fields.get("name", "model")),
            task=task,  # type: ignore[arg-type]
            input_shape=_shape("input_shape", fields.get("input_shape")),
            classes=_classes(task, fields.get("classes")),
            backbone=kind,
            backbone_name=_name("backbone.name", backbone["name"]) if "name" in backbone else None,
            head=head_kind,
            widths=widths,
            activation=_choice("head.activation", head.get("activation", "relu"), tuple(ACTIVATIONS)),
        )
        if math.prod(manifest.input_shape) > _LARGEST_INPUT:
            raise ModelError(f"input_shape may have at most {_LARGEST_INPUT:,} numbers in all.")
        if manifest.classes is not None and widths and widths[-1] != manifest.classes:
            raise ModelError(f"head.widths ends in {widths[-1]} outputs, but classes is {manifest.classes}.")
        return manifest

    def to_json(self) -> dict[str, Any]:
        """The mapping that `parse` reads back."""
        head: dict[str, Any] = {"kind": self.head}
        if self.head == "mlp":
            head |= {"widths": list(self.widths), "activation": self.activation}
        backbone = {"kind": self.backbone} | ({"name": self.backbone_name} if self.backbone_name else {})
        answer = {"name": self.name, "task": self.task, "input_shape": list(self.input_shape)}
        return answer | ({"classes": self.classes} if self.classes else {}) | {"backbone": backbone, "head": head}


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ModelError(f"the manifest is not JSON: {error}.") from None


def _mapping(name: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ModelError(f"{name} must be an object with named fields.")
    return value


def _known(name: str, fields: Mapping[str, Any], known: set[str]) -> None:
    unknown = sorted(set(fields) - known)
    if unknown:
        raise ModelError(f"{name} has no field {unknown[0]!r}; known are {', '.join(sorted(known))}.")


def _choice(name: str, value: Any, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise ModelError(f"{name} must be one of {', '.join(allowed)}, not {value!r}.")
    return str(value)


def _name(field: str, value: Any) -> str:
    if not isinstance(value, str) or len(value) > _LONGEST_NAME or not value.isprintable():
        raise ModelError(f"{field} must be text of at most {_LONGEST_NAME} characters that can be printed.")
    return value


def _shape(name: str, value: Any) -> tuple[int, ...]:
    if (
        not isinstance(value, list | tuple)
        or not value
        or len(value) > (_MOST_DIMENSIONS if name == "input_shape" else _MOST_LAYERS)
        or not all(type(v) is int and 0 < v <= _LARGEST_WIDTH for v in value)
    ):
        raise ModelError(f"{name} must be a list of positive whole numbers, not {value!r}.")
    return tuple(value)


def _classes(task: str, value: Any) -> int | None:
    if task == "regression":
        if value is not None:
            raise ModelError("classes is for classification only.")
        return None
    if type(value) is not int or not 2 <= value <= _LARGEST_WIDTH:
        raise ModelError(f"classes must be a whole number of at least 2, not {value!r}.")
    return value
