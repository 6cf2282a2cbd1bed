"""What the columns of the given rows are for: inputs, which rows belong together, their times and weights."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certiset.core.certificate.population import BY_CLASS, EQUAL_ROWS
from certiset.core.data.arrays import CheckedData, check_data
from certiset.core.data.frame import Column, Frame, TextColumn, as_column, as_frame
from certiset.core.data.group_labels import GroupLabels, complete, read_group_labels
from certiset.core.data.row_hashes import equal_row_codes
from certiset.core.data_frames import index_advice, shown_names
from certiset.core.errors import DataError
from certiset.core.fit.options import FitOptions
from certiset.core.models import Model

_ISO_TIME = re.compile(r"\d{4}-\d{2}(-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?)?)?", re.ASCII)

_MONTH = len("2024-01")
_MOST_CROSSED = 8
_MOST_NAMES = 4096
"""of inputs that a certificate lists"""
ROLES = ("clusters", "order", "weights")
"""options that name a column"""


def role_columns(options: Mapping[str, Any]) -> list[str]:
    """The columns that the options name, which are no inputs."""
    groups = options.get("groups")
    named = [] if groups is None or groups == BY_CLASS else [groups] if isinstance(groups, str) else list(groups)
    return [*(options[role] for role in ROLES if options.get(role) is not None), *named]


@dataclass(frozen=True)
class Given:
    """What a caller gave for the roles: names go into the options, arrays are kept here."""

    names: dict[str, Any]
    arrays: dict[str, ArrayLike]

    @classmethod
    def of(cls, roles: Mapping[str, Any]) -> "Given":
        named = {role: value for role, value in roles.items() if value is None or _is_name(role, value)}
        return cls(named, {role: value for role, value in roles.items() if role not in named})


def other_columns(options: FitOptions) -> set[str]:
    """Names of columns that are for something else than the model."""
    return set(role_columns({role: getattr(options, role) for role in (*ROLES, "groups")})) - {EQUAL_ROWS}


def read_rows(model: Model, x: Any, y: ArrayLike, options: FitOptions, given: Given) -> CheckedData:
    """The rows as the model takes them, with clusters, times and weights if there are any."""
    named = other_columns(options)
    # A model that takes tables as they are reads them itself.
    frame = as_frame(x) if model.reader is None or named else Frame(np.empty((0, 0)))
    roles = {role: _role(frame, role, getattr(options, role), given.arrays.get(role)) for role in ROLES}
    times = None if roles["order"] is None else _times(roles["order"])
    groups = _groups(frame, options.groups, given.arrays.get("groups"))
    may_stay = set(role_columns({"groups": options.groups})) & set(frame.names or [])
    if model.reader is None:
        inputs, columns = _inputs(model, frame, named, may_stay)
    else:
        inputs, columns = model.reader.read(x, named), model.reader.columns
    data = check_data(model, inputs, y, allow_missing_classes=options.allow_missing_classes)
    for role, column in roles.items():
        if column is not None and _rows(column) != len(data.y):
            raise DataError(f"{role} has {_rows(column)} entries for {len(data.y)} rows.", field=role)
    if groups is not None and len(groups.codes) != len(data.y):
        raise DataError(f"groups has {len(groups.codes)} entries for {len(data.y)} rows.", field="groups")
    clusters = equal_row_codes(data.x) if options.clusters == EQUAL_ROWS else roles["clusters"]
    return replace(
        data,
        columns=columns if columns is None or len(columns) <= _MOST_NAMES else None,
        clusters=None if clusters is None else _numbered(clusters),
        times=times,
        groups=groups,
        weights=None if roles["weights"] is None else _weights(roles["weights"]),
    )


def _is_name(role: str, value: Any) -> bool:
    """Several columns may be named for groups; a list of anything else is an array."""
    if role == "groups" and isinstance(value, list):
        return 0 < len(value) <= _MOST_CROSSED and all(isinstance(entry, str) for entry in value)
    return isinstance(value, str)


def _groups(frame: Frame, names: str | list[str] | None, array: Any) -> GroupLabels | None:
    if array is not None:
        crossed = array.shape[1] if getattr(array, "ndim", 1) == 2 else 1
        return read_group_labels(array, len(array), crossed)
    if names is None or names == BY_CLASS:
        return None
    listed = [names] if isinstance(names, str) else names
    if len(set(listed)) < len(listed):
        raise DataError("groups names a column twice.", field="groups")
    return GroupLabels.of([complete(frame.column(name, "groups"), "groups") for name in listed])


def _inputs(
    model: Model, frame: Frame, named: Collection[str], may_stay: set[str]
) -> tuple[ArrayLike, list[str] | None]:
    wanted = model.manifest.columns
    size = int(np.prod(model.manifest.input_shape))
    if wanted is None and frame.names is not None and len({*frame.names} - {*named} | may_stay) == size:
        # Columns of groups are inputs, too, where the model takes as many.
        named = {*named} - may_stay
    inputs, names = frame.inputs(wanted, named)
    if names is None:
        return inputs, list(wanted) if wanted is not None else None
    if wanted is None and len(names) != size:
        texts = f"; columns of text are no inputs: {shown_names(frame.texts)}" if frame.texts else ""
        raise DataError(
            f"The model takes inputs of shape {model.manifest.input_shape}, but the table has {len(names)} columns of "
            f"numbers for them: {shown_names(names)}{texts}. The manifest's columns can name the inputs."
            f"{index_advice(names)}",
            field="x",
        )
    return inputs, names


def _role(frame: Frame, role: str, name: str | None, array: ArrayLike | None) -> Column | None:
    if array is not None:
        column = as_column(array)
        if not isinstance(column, TextColumn) and column.ndim != 1:
            raise DataError(f"{role} must have one entry per row, not the shape {column.shape}.", field=role)
        return complete(column, role)
    if name is None or (role == "clusters" and name == EQUAL_ROWS):
        return None
    return complete(frame.column(name, role), role)


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
    return _in_sequence(column)[column.codes]


def _in_sequence(column: TextColumn) -> NDArray[np.int32]:
    """The place of each of its values in the order of time, whatever zone each is told in."""
    try:
        times = [datetime.fromisoformat(f"{value}-01" if len(value) == _MONTH else value) for value in column.values]
    except ValueError:
        raise DataError("order holds a time that no calendar has.", field="order") from None
    if len({time.tzinfo is None for time in times}) > 1:
        raise DataError(
            "order has times with a zone and times without one, which cannot be compared: give all of them one.",
            field="order",
        )
    # Beyond microseconds, which is as far as clocks go here, times of one form are in alphabetical order.
    first_to_last = sorted(range(len(times)), key=lambda place: (times[place], column.values[place]))
    return np.argsort(np.array(first_to_last, dtype=np.int64)).astype(np.int32)


def _weights(column: Column) -> NDArray[np.float64]:
    if isinstance(column, TextColumn):
        raise DataError("weights must be a column of numbers, and it holds text.", field="weights")
    return column.astype(np.float64)
