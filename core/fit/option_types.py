"""Types of options: numbers with their limits, devices, scores and levels, each with its check and its JSON Schema."""

import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
)
from pydantic_core import CoreSchema, PydanticKnownError, core_schema

from certiset.core.errors import OptionError

if TYPE_CHECKING:
    from certiset.core.scores import Score

_MOST_LEVELS = 100
_MOST_CLASSES = 100_000
_SUM_OF_SHARES = 1e-9

_DEVICE = r"^(auto|cpu|mps|cuda(:[0-9]{1,3})?)$"


class Section(BaseModel):
    """Options that belong together; unknown ones are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def _device(name: str) -> str:
    if not re.fullmatch(_DEVICE, name):
        raise OptionError(f"device must be auto, cpu, cuda, cuda:N or mps, not {name!r}.", field="device")
    return name


Device = Annotated[str, AfterValidator(_device), Field(json_schema_extra={"pattern": _DEVICE})]


def _no_text(kind: Literal["float_type", "int_type"]) -> BeforeValidator:
    """Text and truth values are not numbers, although Python would make some of them."""

    def check(value: Any) -> Any:
        if isinstance(value, str | bool):
            raise PydanticKnownError(kind)
        return value

    return BeforeValidator(check)


REAL, WHOLE = _no_text("float_type"), _no_text("int_type")
"""put behind a number's limits, which are then part of the schema"""
Flag = Annotated[bool, Field(strict=True)]
Level = Annotated[float, Field(gt=0, lt=1), REAL]
Positive = Annotated[float, Field(gt=0, le=1e6), REAL]
Steps = Annotated[int, Field(ge=1, le=1_000_000), WHOLE]
Batch = Annotated[int, Field(ge=2, le=1_000_000), WHOLE]
Share = Annotated[float, Field(ge=0, lt=1), REAL]
ColumnName = Annotated[str, Field(min_length=1, max_length=200)]
ColumnNames = ColumnName | Annotated[list[ColumnName], Field(min_length=1, max_length=8)]
"""one column, or several that cross"""


def _group_value(text: str) -> str:
    if "\0" in text:
        raise OptionError(f"group_list has a value with letters that no text has: {text[:40]!r}.", field="group_list")
    return text


GroupValue = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_group_value)]
GroupList = Annotated[
    list[GroupValue | Annotated[list[GroupValue], Field(min_length=1, max_length=8)]],
    Field(min_length=1, max_length=1000),
]


ALL = "all"
Alpha = Level | Literal["all"]
"""one level, or all of them at once"""
LevelAround = Annotated[float, Field(gt=0, le=0.3), REAL]
WeightBound = Annotated[float, Field(gt=0, le=1e300), REAL]


def _score_schema(kind: Any) -> dict[str, Any]:
    own = kind.model_json_schema()
    return {
        "type": "object",
        "title": kind.kind,
        "description": (kind.__doc__ or "").split("\n\n")[0].strip(),
        "required": ["kind"],
        "properties": {"kind": {"const": kind.kind}, **own.get("properties", {})},
        "additionalProperties": False,
        "x-task": kind.task,
        "x-set": kind.sets.kind,
    }


def _read_levels(value: Any) -> Any:
    if isinstance(value, str) and value == "grid":
        return value
    listed = list(value) if isinstance(value, list | tuple) else [value]
    try:
        levels = [float(level) for level in listed if not isinstance(level, bool | str)]
    except (TypeError, ValueError):
        levels = []
    if len(levels) != len(listed) or not 1 <= len(levels) <= _MOST_LEVELS:
        raise OptionError(
            f"alpha_hat must be 'grid', a number, or a list of 1 to {_MOST_LEVELS} numbers.", field="alpha_hat"
        )
    wrong = next((level for level in levels if not 0 < level < 1), None)
    if wrong is not None:
        raise OptionError(f"alpha_hat must lie strictly between 0 and 1, not {wrong:g}.", field="alpha_hat")
    return levels if isinstance(value, list | tuple) else levels[0]


def _read_prevalences(value: Any) -> Any:
    """Shares of the classes: in their order, or by the number of each."""
    listed = list(value.values()) if isinstance(value, Mapping) else value
    if not isinstance(listed, list | tuple) or not 2 <= len(listed) <= _MOST_CLASSES:
        raise OptionError(
            f"prevalences must be a list of one share for each class, in their order, or an object of shares by the "
            f"numbers of the classes; at least 2 and at most {_MOST_CLASSES:,}.",
            field="prevalences",
        )
    if any(isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1 for share in listed):
        raise OptionError("prevalences must be numbers from 0 to 1.", field="prevalences")
    total = math.fsum(listed)
    if abs(total - 1) > _SUM_OF_SHARES:
        raise OptionError(f"prevalences must add up to 1, and these add up to {total:.6g}.", field="prevalences")
    shares = [float(share) for share in listed]
    return dict(zip(map(str, value), shares, strict=True)) if isinstance(value, Mapping) else shares


def _score_json(score: Any, info: core_schema.SerializationInfo) -> Any:
    """With all its options, or, where only what was given is asked for, with those that were."""
    if score is None:
        return None
    return {"kind": score.kind, **score.model_dump(exclude_unset=bool(info.exclude_unset))}


class ScoreType:
    """A score by its name or its description, validated by the score itself."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        def read(value: Any) -> "Score":
            from certiset.core.scores import make_score  # noqa: PLC0415 (loads PyTorch)

            return make_score(value)

        return core_schema.no_info_plain_validator_function(
            read, serialization=core_schema.plain_serializer_function_ser_schema(_score_json, info_arg=True)
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        from certiset.core.scores import SCORES  # noqa: PLC0415 (loads PyTorch)

        return {"oneOf": [_score_schema(kind) for kind in SCORES.values()]}


class PrevalencesType:
    """Shares of classes: a list in their order, or an object by their numbers."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(_read_prevalences)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        share = {"type": "number", "minimum": 0, "maximum": 1}
        listed = {"type": "array", "items": share, "minItems": 2, "maxItems": _MOST_CLASSES}
        return {"anyOf": [listed, {"type": "object", "additionalProperties": share, "maxProperties": _MOST_CLASSES}]}


class LevelsType:
    """Levels for alpha_hat: "grid", a number, or a list of numbers."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(_read_levels)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        level = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}
        many = {"type": "array", "items": level, "minItems": 1, "maxItems": _MOST_LEVELS}
        return {"anyOf": [{"const": "grid"}, level, many]}
