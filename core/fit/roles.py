"""What the columns of the given rows are for: inputs, which rows belong together, and when they were made."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certiset.core.certificate.population import EQUAL_ROWS
from certiset.core.data.arrays import CheckedData, check_data
from certiset.core.data.frame import Column, Frame, TextColumn, as_column, as_frame, shown_names
from certiset.core.data.row_hashes import equal_row_codes
from certiset.core.errors import DataError
from certiset.core.fit.options import FitOptions
from certiset.core.models import Model

_ISO_TIME = re.compile(r"\d{4}-\d{2}(-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?)?)?", re.ASCII)

_MOST_NAMES = 4096
"""of inputs that a certificate lists"""
ROLES = ("clusters", "order")
"""options that name a column"""


@dataclass(frozen=True)
class Given:
    """What a caller gave for the roles: names go into the options, arrays are kept here."""

    names: dict[str, str | None]
    arrays: dict[str, ArrayLike]

    @classmethod
    def of(cls, roles: Mapping[str, Any]) -> "Given":
        named = {role: value for role, value in roles.items() if value is None or isinstance(value, str)}
        return cls(named, {role: value for role, value in roles.items() if role not in named})


def read_rows(model: Model, x: Any, y: ArrayLike, options: FitOptions, given: Given) -> CheckedData:
    """The rows as the model takes them, with clusters and times if there are any."""
    frame = as_frame(x)
    named = {name for role in ROLES if (name := getattr(options, role)) is not None and name != EQUAL_ROWS}
    roles = {role: _role(frame, role, getattr(options, role), given.arrays.get(role)) for role in ROLES}
    times = None if roles["order"] is None else _times(roles["order"])
    inputs, columns = _inputs(model, frame, named)
    data = check_data(model, inputs, y, allow_missing_classes=options.allow_missing_classes)
    for role, column in roles.items():
        if column is not None and _rows(column) != len(data.y):
            raise DataError(f"{role} has {_rows(column)} entries for {len(data.y)} rows.", field=role)
    clusters = equal_row_codes(data.x) if options.clusters == EQUAL_ROWS else roles["clusters"]
    return replace(
        data,
        columns=columns if columns is None or len(columns) <= _MOST_NAMES else None,
        clusters=None if clusters is None else _numbered(clusters),
        times=times,
    )


def _inputs(model: Model, frame: Frame, named: Collection[str]) -> tuple[ArrayLike, list[str] | None]:
    wanted = model.manifest.columns
    inputs, names = frame.inputs(wanted, named)
    if names is None:
        return inputs, list(wanted) if wanted is not None else None
    size = int(np.prod(model.manifest.input_shape))
    if wanted is None and len(names) != size:
        texts = f"; columns of text are no inputs: {shown_names(frame.texts)}" if frame.texts else ""
        raise DataError(
            f"The model takes inputs of shape {model.manifest.input_shape}, but the table has {len(names)} columns of "
            f"numbers for them: {shown_names(names)}{texts}. The manifest's columns can name the inputs.",
            field="x",
        )
    return inputs, names


def _role(frame: Frame, role: str, name: str | None, array: ArrayLike | None) -> Column | None:
    if array is not None:
        column = as_column(array)
        if not isinstance(column, TextColumn) and column.ndim != 1:
            raise DataError(f"{role} must have one entry per row, not the shape {column.shape}.", field=role)
        return _complete(role, column)
    if name is None or (role == "clusters" and name == EQUAL_ROWS):
        return None
    return _complete(role, frame.column(name, role))


def _complete(role: str, column: Column) -> Column:
    if isinstance(column, TextColumn):
        missing = column.codes < 0
    else:
        missing = np.isnan(column) if column.dtype.kind == "f" else np.zeros(0, dtype=bool)
    if missing.any():
        raise DataError(f"{role} is missing in row {int(np.argmax(missing)) + 1}: every row needs one.", field=role)
    return column


def _rows(column: Column) -> int:
    return len(column.codes if isinstance(column, TextColumn) else column)


def _numbered(clusters: Column) -> NDArray[np.int64]:
    """From 0 on, in the order of their first rows: so that names do not matter."""
    values = clusters.codes if isinstance(clusters, TextColumn) else clusters
    _, first, place = np.unique(values, return_index=True, return_inverse=True)
    number = np.empty(len(first), dtype=np.int64)
    number[np.argsort(first)] = np.arange(len(first))
    return number[place]


def _times(column: Column) -> NDArray[Any]:
    if not isinstance(column, TextColumn):
        return column
    wrong = next((value for value in column.values if not _ISO_TIME.fullmatch(value)), None)
    if wrong is not None:
        raise DataError(
            f"order must be a column of numbers or of times such as 2024-01-31T12:00:00, and one holds {wrong[:40]!r}.",
            field="order",
        )
    # Times of one form are in alphabetical order.
    return column.codes
