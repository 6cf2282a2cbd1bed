"""Parquet: columns of numbers, or a column x of lists; sizes are checked by the footer and again while reading."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from core.datasets.arrays import DatasetArrays
from core.datasets.columns import Columns
from core.datasets.limits import Limits
from core.errors import DataError

_ROWS_AT_ONCE = 65_536


def read_parquet(file: Path, target: str, limits: Limits) -> DatasetArrays:
    try:
        with pq.ParquetFile(file) as table:
            metadata = table.metadata
            limits.check_columns(metadata.num_columns)
            limits.check_unpacked(_claimed(metadata))
            columns = Columns.of(table.schema_arrow.names, target, limits)
            return _read(table, columns, limits)
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"The file is not a whole Parquet file: {str(error).splitlines()[0]}.") from None


def _claimed(metadata: Any) -> int:
    """Bytes of all numbers, by the footer; the reader counts again, in case the footer lies."""
    groups = [metadata.row_group(group) for group in range(metadata.num_row_groups)]
    values = sum(group.column(place).num_values for group in groups for place in range(group.num_columns))
    return int(max(8 * values, *(group.total_byte_size for group in groups), 0, 0))


def _read(table: Any, columns: Columns, limits: Limits) -> DatasetArrays:
    parts: dict[int, list[NDArray[Any]]] = {place: [] for place in range(len(columns.names))}
    rows = size = 0
    for batch in table.iter_batches(batch_size=_ROWS_AT_ONCE):
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
    return DatasetArrays.checked(_joined(whole, columns.inputs), _joined(whole, columns.targets))


def _joined(whole: dict[int, NDArray[Any]], places: list[int]) -> NDArray[Any]:
    if len(places) == 1:
        return whole[places[0]]
    return np.concatenate([whole[place].reshape(len(whole[place]), -1) for place in places], axis=1)


def _numbers(column: Any, name: str, before: int) -> NDArray[Any]:
    """(rows, ...) of a column's piece; lists nest to any depth."""
    if column.null_count:
        row = before + int(np.argmax(np.asarray(column.is_null()))) + 1
        raise DataError(f"Row {row}, column {name!r} is empty: every cell must hold a number.")
    kind = column.type
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        lengths = set(pc.list_value_length(column).to_pylist())
        if len(lengths) != 1:
            raise DataError(f"Column {name!r} has lists of different lengths.")
        inner = _numbers(column.flatten(), name, before)
        return inner.reshape(len(column), next(iter(lengths)), *inner.shape[1:])
    if pa.types.is_boolean(kind):
        return np.asarray(column.cast(pa.uint8()))
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        raise DataError(f"Column {name!r} holds {kind}, not numbers.")
    array = np.asarray(column)
    if array.dtype.kind == "f":
        bad = np.flatnonzero(~np.isfinite(array))
        if len(bad):
            raise DataError(f"Row {before + int(bad[0]) + 1}, column {name!r} is {array[bad[0]]}, which is not finite.")
    return array
