"""What a model is, in JSON: read strictly, so that a wrong manifest is refused and never guessed at."""

import json
import math
import reprlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast, get_args

from certiset.core.models.backbones import BackboneSpec, parse_backbone
from certiset.core.models.fields import LARGEST_WIDTH, check_known, choice, refuse, section, text, whole_numbers
from certiset.core.models.heads import HeadSpec, parse_head
from certiset.core.tasks import Task

_LARGEST_INPUT = 2**24
_MOST_DIMENSIONS = 8
_FIELDS = ("name", "task", "input_shape", "classes", "backbone", "head", "columns")


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
        return cls(
            name=text("name", fields.get("name", "model")),
            task=task,
            input_shape=input_shape,
            classes=classes,
            backbone=backbone,
            head=parse_head(section(fields, "head", {"kind": "identity"}), classes),
            columns=_columns(fields.get("columns"), input_shape),
        )

    def to_json(self) -> dict[str, Any]:
        """The mapping that `parse` reads back."""
        return {
            "name": self.name,
            "task": self.task,
            "input_shape": list(self.input_shape),
            **({"classes": self.classes} if self.classes else {}),
            "backbone": self.backbone.to_json(),
            "head": self.head.to_json(),
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


def _classes(task: Task, value: Any) -> int | None:
    if task == "regression":
        if value is not None:
            refuse("classes", "classes is for classification only.")
        return None
    if type(value) is not int or not 2 <= value <= LARGEST_WIDTH:
        refuse("classes", f"classes must be a whole number from 2 to {LARGEST_WIDTH:,}, not {reprlib.repr(value)}.")
    return value
