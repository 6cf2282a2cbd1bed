"""Checks of a manifest's fields. Each error names the field as the manifest spells it, such as ``head.widths``."""

import reprlib
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from certiset.core.errors import ModelError

LARGEST_WIDTH = 1_000_000
_LONGEST_NAME = 200


def refuse(field: str | None, message: str) -> NoReturn:
    raise ModelError(message, field=field)


def section(fields: Mapping[str, Any], name: str, default: Mapping[str, Any]) -> Mapping[str, Any]:
    """A part of the manifest that has named fields itself."""
    value = fields.get(name, default)
    if not isinstance(value, Mapping):
        refuse(name, f"{name} must be an object with named fields.")
    return value


def check_known(what: str, fields: Mapping[str, Any], known: Iterable[str], prefix: str = "") -> None:
    names = sorted(known)
    unknown = sorted(str(name) for name in fields if name not in names)
    if unknown:
        first = unknown[0][:_LONGEST_NAME]
        refuse(f"{prefix}{first}", f"{what} has no field {first!r}; known are {', '.join(names)}.")


def choice(field: str, value: Any, allowed: Iterable[str]) -> str:
    names = tuple(allowed)
    if value not in names:
        refuse(field, f"{field} must be one of {', '.join(names)}, not {reprlib.repr(value)}.")
    return str(value)


def text(field: str, value: Any) -> str:
    if not isinstance(value, str) or len(value) > _LONGEST_NAME or not value.isprintable():
        refuse(field, f"{field} must be printable text of at most {_LONGEST_NAME} characters.")
    return value


def whole_numbers(field: str, value: Any, most: int) -> tuple[int, ...]:
    """At most so many positive whole numbers."""
    if (
        not isinstance(value, list | tuple)
        or not 0 < len(value) <= most
        or not all(type(entry) is int and 0 < entry <= LARGEST_WIDTH for entry in value)
    ):
        refuse(field, f"{field} must be a list of positive whole numbers, not {reprlib.repr(value)}.")
    return tuple(value)
