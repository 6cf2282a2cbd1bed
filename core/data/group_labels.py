"""Which group each row belongs to, by one column or several that cross: numbers and text become names of groups.

Names are text, so that a group is the same one in a table, in JSON and in an address: whole numbers have no point (1,
1.0 and true are "1"), others are as short as their precision allows.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certiset.core.data.frame import Column, TextColumn, as_column, text_of
from certiset.core.data_frames import is_missing
from certiset.core.errors import DataError

GroupName = tuple[str, ...]
"""the value of each column"""
MOST_GROUPS = 1000
LONGEST_VALUE = 200
_NO_TEXT = re.compile("[\0\ud800-\udfff]")
"""what some of JSON, NumPy, addresses and databases cannot hold"""


@dataclass(frozen=True)
class GroupLabels:
    codes: NDArray[np.int64]
    """(rows,): places in ``names``"""
    names: list[GroupName]
    """each once"""

    @classmethod
    def of(cls, columns: Sequence[Column], field: str = "groups") -> "GroupLabels":
        """Of columns with one entry per row, none missing."""
        coded = [_coded(column, field) for column in columns]
        codes = np.zeros(len(coded[0][0]), dtype=np.int64)
        names: list[GroupName] = [()]
        for further, values in coded:
            # Only what occurs is kept, or a few columns of many values would cross to millions.
            found, codes = np.unique(codes * len(values) + further, return_inverse=True)
            names = [(*names[code // len(values)], values[code % len(values)]) for code in found.tolist()]
        return cls(codes, names)

    def take(self, places: NDArray[np.int64]) -> "GroupLabels":
        return GroupLabels(self.codes[places], self.names)

    def occurring(self, places: NDArray[np.int64]) -> list[GroupName]:
        """The names of the groups that these rows belong to, in their order."""
        return [self.names[code] for code in np.unique(self.codes[places]).tolist()]

    @property
    def content(self) -> bytes:
        """For a hash: the names do not depend on which other rows there are."""
        return repr(self.names).encode() + np.ascontiguousarray(self.codes, dtype="<i8").tobytes()


def read_group_labels(given: Any, rows: int, columns: int, field: str = "groups") -> GroupLabels:
    """Of what a caller gave: one entry per row, or where columns cross one list per row; a data frame's columns do."""
    given = list(given) if isinstance(given, tuple) else given
    if isinstance(given, str | bytes) or (np.ndim(given) == 0 and not hasattr(given, "columns")):
        raise DataError(f"{field} must have one entry per row.", field=field)
    found = _columns(given, columns, field)
    lengths = {len(column.codes if isinstance(column, TextColumn) else column) for column in found}
    if lengths != {rows}:
        raise DataError(f"{field} has {max(lengths)} entries for {rows} rows.", field=field)
    return GroupLabels.of([complete(column, field) for column in found], field)


def complete(column: Column, field: str) -> Column:
    """The column, if no entry is missing; a text that is empty is."""
    if isinstance(column, TextColumn):
        missing = column.codes < 0
        if "" in column.values:
            missing |= column.codes == column.values.index("")
    else:
        missing = np.isnan(column) if column.dtype.kind == "f" else np.zeros(0, dtype=bool)
    if missing.any():
        raise DataError(f"{field} is missing in row {int(np.argmax(missing)) + 1}: every row needs one.", field=field)
    return column


def group_text(value: Any, field: str = "groups") -> str:
    """The name that a value has."""
    if not isinstance(value, str | bool | int | float | np.integer | np.bool_ | np.floating):
        raise DataError(f"{field} are named by text or numbers.", field=field)
    found = text_of(value)
    _check_text(found, field)
    return found


def _check_text(value: str, field: str) -> None:
    """That it can be written in every form in which groups are asked for and stored."""
    if len(value) > LONGEST_VALUE:
        raise DataError(f"{field} has a value of more than {LONGEST_VALUE} characters.", field=field)
    if _NO_TEXT.search(value):
        raise DataError(f"{field} has a value with letters that no text has: {value[:40]!r}.", field=field)


def _columns(given: Any, columns: int, field: str) -> list[Column]:
    if hasattr(given, "columns") and hasattr(type(given), "__getitem__"):
        return [as_column(given[name]) for name in given.columns]
    if columns == 1 and (isinstance(given, list) or getattr(given, "ndim", 1) == 1):
        return [_column(given, field)]
    try:
        table = np.asarray(given, dtype=object if isinstance(given, list) else None)
    except ValueError:
        table = np.zeros(0)
    if table.ndim != 2 or table.shape[1] != columns:
        each = "one entry" if columns == 1 else f"{columns} entries, one for each column that crosses,"
        raise DataError(f"{field} must have {each} per row.", field=field)
    return [
        _column(table[:, place].tolist() if table.dtype == object else table[:, place], field)
        for place in range(columns)
    ]


def _column(given: Any, field: str) -> Column:
    """Lists may mix numbers and text."""
    if getattr(getattr(given, "dtype", None), "kind", "") == "O":
        given = np.asarray(given).tolist()
    if not isinstance(given, list):
        found = as_column(given)
        if not isinstance(found, TextColumn) and found.ndim != 1:
            raise DataError(f"{field} must have one entry per row, not the shape {found.shape}.", field=field)
        return found
    if any(isinstance(cell, list | dict | tuple) for cell in given):
        raise DataError(f"{field} must have one entry per row, a text or a number.", field=field)
    return TextColumn.of([None if is_missing(cell) else group_text(cell, field) for cell in given])


def _coded(column: Column, field: str) -> tuple[NDArray[np.int64], list[str]]:
    if isinstance(column, TextColumn):
        used, codes = np.unique(column.codes, return_inverse=True)
        values = [column.values[code] for code in used.tolist()]
    else:
        used, codes = np.unique(column, return_inverse=True)
        if used.dtype.kind == "f" and not np.isfinite(used).all():
            raise DataError(f"{field} must be finite.", field=field)
        values = [text_of(value) for value in used]
    for value in values:
        _check_text(value, field)
    return codes.astype(np.int64), values
