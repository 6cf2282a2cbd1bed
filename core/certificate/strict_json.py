"""Strict reading: a mapping becomes a dataclass only if every field is present, of its type, and finite.

Fields whose default is None may be missing, and are not written where they are None.
"""

import functools
import math
import types
import typing
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

from certiset.core.errors import DamagedFileError

T = TypeVar("T")


def read(kind: type[T], source: Any, where: str) -> T:
    """An instance of the dataclass ``kind``; an error names the field that is wrong."""
    if not isinstance(source, Mapping):
        raise DamagedFileError(f"{where} must be an object with named fields.")
    hints, optional = _fields_of(typing.cast(Any, kind))
    names = hints.keys()
    for name in sorted(map(str, (names - optional - set(source)) | (set(source) - names))):
        problem = "is missing" if name in names else "is not known"
        raise DamagedFileError(f"{where}: field {name[:60]!r} {problem}.")
    return kind(**{name: _value(hints[name], source[name], f"{where}.{name}") for name in names & set(source)})


@functools.cache
def _fields_of(kind: type[Any]) -> tuple[dict[str, Any], frozenset[str]]:
    """The type of each field, and which may be missing; looked up once, since a certificate has hundreds of members."""
    hints = typing.get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}, frozenset(
        field.name for field in fields(kind) if field.default is None
    )


def written(value: Any, *, all_fields: bool = False) -> Any:
    """The dataclass as JSON values, without optional fields that are None (unless all are asked for)."""
    if is_dataclass(value):
        return {
            field.name: written(getattr(value, field.name), all_fields=all_fields)
            for field in fields(value)
            if all_fields or field.default is not None or getattr(value, field.name) is not None
        }
    if isinstance(value, list):
        return [written(entry, all_fields=all_fields) for entry in value]
    if isinstance(value, dict):
        return {name: written(entry, all_fields=all_fields) for name, entry in value.items()}
    return value


def _value(hint: Any, value: Any, where: str) -> Any:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        return None if value is None else _value(arguments[0], value, where)
    if origin is list:
        if not isinstance(value, list):
            raise DamagedFileError(f"{where} must be a list.")
        return [_value(arguments[0], entry, f"{where}[{place}]") for place, entry in enumerate(value)]
    if origin is dict:
        return _json_object(value, where) if arguments[1] is Any else _texts(value, where)
    if is_dataclass(hint):
        return read(typing.cast(type[Any], hint), value, where)
    if hint is float:
        return _number(value, where)
    if type(value) is not hint:
        raise DamagedFileError(f"{where} must be of type {hint.__name__}.")
    return value


def _texts(value: Any, where: str) -> dict[str, str]:
    if not isinstance(value, Mapping) or not all(isinstance(v, str) for pair in value.items() for v in pair):
        raise DamagedFileError(f"{where} must be an object of strings.")
    return dict(value)


def _number(value: Any, where: str) -> float:
    if type(value) not in (int, float):
        raise DamagedFileError(f"{where} must be a number.")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise DamagedFileError(f"{where} must be finite.")
    return number


def _json_object(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise DamagedFileError(f"{where} must be an object with named fields.")
    return {name: _json(entry, f"{where}.{name[:60]}") for name, entry in value.items()}


def _json(value: Any, where: str) -> Any:
    if isinstance(value, Mapping):
        return _json_object(value, where)
    if isinstance(value, list):
        return [_json(entry, f"{where}[{place}]") for place, entry in enumerate(value)]
    if isinstance(value, float) and not math.isfinite(value):
        raise DamagedFileError(f"{where} must be finite.")
    return value
