"""What a model is, in JSON: read strictly, so that a wrong manifest is refused and never guessed at."""

import json
import math
import reprlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast, get_args

from certiset.core.models.backbones import BackboneSpec, parse_backbone
from certiset.core.models.fields import LARGEST_WIDTH, check_known, choice, refuse, section, text, whole_numbers
from certiset.core.models.heads import HeadSpec, parse_head
from certiset.core.tasks import Task

_LARGEST_INPUT = 2**24
_MOST_DIMENSIONS = 8
_FIELDS = ("name", "task", "input_shape", "classes", "labels", "backbone", "head", "outputs", "columns")

OutputKind: TypeAlias = Literal["logits", "probabilities"]


@dataclass(frozen=True)
class Manifest:
    name: str
    task: Task
    input_shape: tuple[int, ...]
    """the shape of one input"""
    classes: int | None
    """number of classes, for classification"""
    backbone: BackboneSpec
    head: HeadSpec
    columns: tuple[str, ...] | None = None
    """names of the inputs in their order, where they are columns of a table"""
    labels: tuple[str, ...] | None = None
    """names of the classes, in the order of the outputs"""
    outputs: OutputKind = "logits"
    """what a classifier's features are, where no head follows: probabilities become logits by their logarithm"""

    @classmethod
    def parse(cls, source: "Manifest | Mapping[str, Any] | str") -> "Manifest":
        """From a mapping or JSON text; says which field is wrong and what is allowed."""
        if isinstance(source, Manifest):
            return source
        fields = _json(source) if isinstance(source, str) else source
        if not isinstance(fields, Mapping):
            refuse("manifest", "The manifest must be an object with named fields.")
        check_known("The manifest", fields, _FIELDS)
        task = cast(Task, choice("task", fields.get("task"), get_args(Task)))
        backbone = parse_backbone(section(fields, "backbone", {"kind": "none"}))
        classes = _classes(task, fields.get("classes"))
        input_shape = _input_shape(fields.get("input_shape"))
        head = parse_head(section(fields, "head", {"kind": "identity"}), classes)
        return cls(
            name=text("name", fields.get("name", "model")),
            task=task,
            input_shape=input_shape,
            classes=classes,
            backbone=backbone,
            head=head,
            columns=_columns(fields.get("columns"), input_shape),
            labels=_labels(fields.get("labels"), classes),
            outputs=_outputs(fields.get("outputs"), classes, head),
        )

    def to_json(self) -> dict[str, Any]:
        """The mapping that `parse` reads back."""
        return {
            "name": self.name,
            "task": self.task,
            "input_shape": list(self.input_shape),
            **({"classes": self.classes} if self.classes else {}),
            **({"labels": list(self.labels)} if self.labels is not None else {}),
            "backbone": self.backbone.to_json(),
            "head": self.head.to_json(),
            **({"outputs": self.outputs} if self.outputs != "logits" else {}),
            **({"columns": list(self.columns)} if self.columns is not None else {}),
        }


def _json(content: str) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        refuse("manifest", f"The manifest is not JSON: {error}.")


def _input_shape(value: Any) -> tuple[int, ...]:
    shape = whole_numbers("input_shape", value, _MOST_DIMENSIONS)
    if math.prod(shape) > _LARGEST_INPUT:
        refuse("input_shape", f"input_shape may have at most {_LARGEST_INPUT:,} numbers in all.")
    return shape


def _columns(value: Any, input_shape: tuple[int, ...]) -> tuple[str, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list | tuple) or not all(isinstance(name, str) and name for name in value):
        refuse("columns", "columns must be a list with the names of the inputs.")
    if len(set(value)) < len(value):
        refuse("columns", "columns names a column twice.")
    if input_shape != (len(value),):
        refuse("columns", f"columns names {len(value)} inputs, but input_shape is {list(input_shape)}.")
    return tuple(value)


def _labels(value: Any, classes: int | None) -> tuple[str, ...] | None:
    if value is None:
        return None
    if classes is None:
        refuse("labels", "labels are the names of classes, and regression has none.")
    if not isinstance(value, list | tuple) or len(value) != classes:
        refuse("labels", f"labels must be a list with the names of the {classes} classes.")
    names = tuple(text("labels", name) for name in value)
    if len(set(names)) < len(names) or "" in names:
        refuse("labels", "labels must have a name of its own for each class.")
    return names


def _outputs(value: Any, classes: int | None, head: HeadSpec) -> OutputKind:
    kind = cast(OutputKind, choice("outputs", "logits" if value is None else value, get_args(OutputKind)))
    if kind == "probabilities" and (classes is None or head.has_layers):
        refuse("outputs", "outputs are probabilities only of a classifier without further layers: head.kind identity.")
    return kind


def _classes(task: Task, value: Any) -> int | None:
    if task == "regression":
        if value is not None:
            refuse("classes", "classes is for classification only.")
        return None
    if type(value) is not int or not 2 <= value <= LARGEST_WIDTH:
        refuse("classes", f"classes must be a whole number from 2 to {LARGEST_WIDTH:,}, not {reprlib.repr(value)}.")
    return value
