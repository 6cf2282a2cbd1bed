"""Strict reading: a mapping becomes a dataclass only if every field is present, of its type, and finite."""

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
    hints = typing.get_type_hints(kind)
    names = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    for name in sorted(names ^ set(source)):
        problem = "is missing" if name in names else "is not known"
        raise DamagedFileError(f"{where}: field {str(name)[:60]!r} {problem}.")
    return kind(**{name: _value(hints[name], source[name], f"{where}.{name}") for name in names})


def _value(hint: Any, value: Any, where: str) -> Any:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        return None if value is None else _value(arguments[0], value, where)
    if origin is list:
        if not isinstance(value, list):
            raise DamagedFileError(f"{where} must be a list.")
        return [_value(arguments[0], entry, f"{where}[{place}]") for place, entry in enumerate(value)]
    if origin is dict:
        if not isinstance(value, Mapping) or not all(isinstance(v, str) for pair in value.items() for v in pair):
            raise DamagedFileError(f"{where} must be an object of strings.")
        return dict(value)
    if is_dataclass(hint):
        return read(typing.cast(type[Any], hint), value, where)
    if hint is float:
        return _number(value, where)
    if type(value) is not hint:
        raise DamagedFileError(f"{where} must be of type {hint.__name__}.")
    return value


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
