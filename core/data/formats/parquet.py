"""Parquet: columns of numbers, or a column x of lists; sizes are checked by the footer and again while reading.

A damaged footer can make the library abort, not merely fail, so that files are read in a sandbox.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certiset.core.data.formats.base import FileFormat
from certiset.core.data.limits import Limits
from certiset.core.data.tables import Columns
from certiset.core.errors import DataError, first_line

_ROWS_AT_ONCE = 65_536
_VALUES_AT_ONCE = 2**23


def _read(file: Path, target: str | None, limits: Limits) -> tuple[NDArray[Any], NDArray[Any] | None]:
    # Here and below, pyarrow is loaded only where a file is read: whoever asks for suffixes may not have it.
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        with pq.ParquetFile(file) as table:
            metadata = table.metadata
            limits.check_columns(metadata.num_columns)
            limits.check_unpacked(_claimed(metadata))
            schema = table.schema_arrow
            for field in schema:
                _check_type(field.name, field.type)
            return _arrays(table, Columns.of(schema.names, target, limits), limits)
    except pa.ArrowMemoryError:
        raise MemoryError from None
    except UnicodeDecodeError:
        raise DataError("The file is not a whole Parquet file: a column's name is not UTF-8.") from None
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"The file is not a whole Parquet file: {first_line(error).rstrip('.')}.") from None


def _claimed(metadata: Any) -> int:
    """Bytes of all numbers, by the footer; the reader counts again, in case the footer lies."""
    groups = [metadata.row_group(group) for group in range(metadata.num_row_groups)]
    values = sum(group.column(place).num_values for group in groups for place in range(group.num_columns))
    return int(max(8 * values, *(group.total_byte_size for group in groups), 0, 0))


def _arrays(table: Any, columns: Columns, limits: Limits) -> tuple[NDArray[Any], NDArray[Any] | None]:
    parts: dict[int, list[NDArray[Any]]] = {place: [] for place in range(len(columns.names))}
    rows = size = 0
    a_row = _claimed(table.metadata) // 8 // max(1, table.metadata.num_rows)
    for batch in table.iter_batches(batch_size=max(1, min(_ROWS_AT_ONCE, _VALUES_AT_ONCE // max(1, a_row)))):
        for place, name in enumerate(columns.names):
            array = _numbers(batch.column(place), name, rows)
            parts[place].append(array)
            size += array.nbytes
            limits.check_unpacked(size)
        rows += batch.num_rows
    if not rows:
        raise DataError("The file has no rows.")
    whole = {}
    for place, name in enumerate(columns.names):
        if len({part.shape[1:] for part in parts[place]}) > 1:
            raise DataError(f"Column {name!r} has lists of different lengths.")
        whole[place] = np.concatenate(parts.pop(place))
    return _joined(whole, columns.inputs), _joined(whole, columns.targets) if columns.targets else None


def _joined(whole: dict[int, NDArray[Any]], places: list[int]) -> NDArray[Any]:
    if len(places) == 1:
        return whole[places[0]]
    return np.concatenate([whole[place].reshape(len(whole[place]), -1) for place in places], axis=1)


def _check_type(name: str, kind: Any) -> None:
    """Before anything is decoded: a small file can hold a string that unpacks to gigabytes."""
    from pyarrow import types  # noqa: PLC0415

    leaf = kind
    while _is_list(leaf):
        leaf = leaf.value_type
    if not (types.is_boolean(leaf) or types.is_integer(leaf) or types.is_floating(leaf)):
        raise DataError(f"Column {name!r} holds {kind}, not numbers.")


def _is_list(kind: Any) -> bool:
    from pyarrow import types  # noqa: PLC0415

    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def _numbers(column: Any, name: str, before: int, width: int = 1) -> NDArray[Any]:
    """(rows, ...) of a column's piece; lists nest to any depth. ``width`` values make a row."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415

    if column.null_count:
        row = before + int(np.argmax(np.asarray(column.is_null()))) // width + 1
        raise DataError(f"Row {row}, column {name!r} is empty: every cell must hold a number.")
    if _is_list(column.type):
        lengths = set(pc.list_value_length(column).to_pylist())
        if len(lengths) != 1:
            raise DataError(f"Column {name!r} has lists of different lengths.")
        length = next(iter(lengths))
        inner = _numbers(column.flatten(), name, before, width * max(1, length))
        return inner.reshape(len(column), length, *inner.shape[1:])
    if pa.types.is_boolean(column.type):
        return np.asarray(column.cast(pa.uint8()))
    array = np.asarray(column)
    if array.dtype.kind == "f":
        bad = np.flatnonzero(~np.isfinite(array))
        if len(bad):
            row = before + int(bad[0]) // width + 1
            raise DataError(f"Row {row}, column {name!r} is {array[bad[0]]}, which is not finite.")
    return array


PARQUET = FileFormat(
    name="Parquet",
    suffixes=(".parquet",),
    summary="columns of numbers, or of lists of numbers that have one length",
    read=_read,
    sandboxed=True,
)
