"""Pydantic's findings as plain sentences about fields that are named as the caller wrote them."""

import difflib
import types
import typing
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from certiset.core.bounds.errors import CertisetError
from certiset.core.errors import FieldError, OptionError

M = TypeVar("M", bound=BaseModel)

_MOST = 20
_UNIONS = (types.UnionType, typing.Union, typing.Annotated)
_LONGEST = 60
_LIMITS = {
    "greater_than": ("gt", "must be greater than"),
    "greater_than_equal": ("ge", "must be at least"),
    "less_than": ("lt", "must be less than"),
    "less_than_equal": ("le", "must be at most"),
}
_LENGTHS = {
    "too_short": "must have at least {min_length} entries",
    "too_long": "must have at most {max_length:,} entries",
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "must have at most {max_length:,} characters",
    "json_invalid": "is not valid JSON: {error}",
}
_SENTENCES = {
    "missing": "is missing",
    "finite_number": "must be finite",
    "string_pattern_mismatch": "is not in the accepted form",
}
_TYPES = {
    "int": "must be a whole number",
    "float": "must be a number",
    "bool": "must be true or false",
    "string": "must be text",
    "list": "must be a list",
    "tuple": "must be a list",
    "dict": "must be an object with named fields",
    "model": "must be an object with named fields",
}


def validated(model: type[M], given: Mapping[str, Any] | M, inside: str = "") -> M:
    """An instance of the model, or an `OptionError` that lists every wrong field, below the field ``inside``."""
    try:
        return model.model_validate(given)
    except ValidationError as error:
        errors = field_errors(error.errors(include_url=False), model, inside)
        raise OptionError(errors[0].message, field=errors[0].field, errors=errors) from None


def field_errors(found: Sequence[Any], model: Any, inside: str = "") -> list[FieldError]:
    """One entry for each wrong field, in the order of the input."""
    return [_field_error(error, model, inside) for error in found[:_MOST]]


def _field_error(error: Mapping[str, Any], model: Any, inside: str) -> FieldError:
    place = _place(error["loc"], model)
    cause = error.get("ctx", {}).get("error")
    if isinstance(cause, CertisetError):
        return FieldError(cause.field or _joined(inside, place), str(cause))
    name = _joined(inside, place)
    if error["type"] == "extra_forbidden":
        return FieldError(name, f"{name} is not an option{_suggestion(inside, place, model)}")
    return FieldError(name, f"{name or 'the input'} {_sentence(error, _choices(place, model))}.")


def _suggestion(inside: str, place: Sequence[str], model: Any) -> str:
    fields = _fields(_at(place[:-1], model))
    near = difflib.get_close_matches(place[-1], fields, n=1)
    if near:
        return f": did you mean {_joined(inside, [*place[:-1], near[0]])}?"
    return f": expected one of {', '.join(fields)}." if fields else ": there are no options here."


def _joined(inside: str, place: Sequence[str]) -> str:
    return ".".join([*([inside] if inside else []), *place])


def _sentence(error: Mapping[str, Any], choices: Sequence[str]) -> str:
    kind, context, given = error["type"], error.get("ctx", {}), f", not {_shown(error.get('input'))}"
    if kind in _LIMITS:
        limit, words = _LIMITS[kind]
        return f"{words} {_number(context[limit])}{given}"
    if kind == "literal_error" and choices:
        return f"must be one of {', '.join(choices)}{given}"
    if kind in _LENGTHS:
        return _LENGTHS[kind].format(**context)
    if kind in _SENTENCES:
        return _SENTENCES[kind]
    type_words = next((words for start, words in _TYPES.items() if kind.startswith(f"{start}_")), None)
    return f"{type_words}{given}" if type_words else f"is not what is expected here{given}"


def _choices(place: Sequence[str], model: Any) -> list[str]:
    """What a field that takes one of some words takes."""
    holder = _at(place[:-1], model)
    if not place or place[-1] not in _fields(holder):
        return []
    waiting, found = [holder.model_fields[place[-1]].annotation], []
    while waiting:
        annotation = waiting.pop(0)
        if typing.get_origin(annotation) is typing.Literal:
            found += [str(choice) for choice in typing.get_args(annotation)]
        elif typing.get_origin(annotation) in _UNIONS:
            waiting += typing.get_args(annotation)
    return found


def _number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def _shown(value: Any) -> str:
    text = "null" if value is None else repr(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _place(location: Sequence[str | int], model: Any) -> list[str]:
    """The path to a field, without what pydantic puts in between, such as the branch of a union that it tried."""
    place: list[str] = []
    current = model
    for number, part in enumerate(location):
        last = number + 1 == len(location)
        if isinstance(part, int):
            place.append(str(part))
        elif part in _fields(current) or (last and _fields(current)) or not place:
            place.append(part)
            current = _inner(current, part)
    return place


def _at(place: Sequence[str], model: Any) -> Any:
    for part in place:
        model = _inner(model, part)
    return model


def _fields(model: Any) -> list[str]:
    return list(model.model_fields) if isinstance(model, type) and issubclass(model, BaseModel) else []


def _inner(model: Any, field: str) -> Any:
    """The model that a field holds, or None where it holds something simple."""
    if field.isdigit():
        return model
    if field not in _fields(model):
        return None
    waiting: list[Any] = [model.model_fields[field].annotation]
    while waiting:
        annotation = waiting.pop()
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            return annotation
        if typing.get_origin(annotation) in (*_UNIONS, list, tuple):
            waiting += typing.get_args(annotation)
    return None
