"""Part of a text, in any case, in one of several columns."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, func, or_

from certiset.core.store.text import printable


def contains(columns: Sequence[Any], text: str) -> ColumnElement[bool]:
    """Signs that mean something to the database mean themselves."""
    part = printable(text.lower(), 200)
    return or_(*(func.lower(column).contains(part, autoescape=True) for column in columns))
