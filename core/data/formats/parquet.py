"""Parquet: columns of numbers or text, or a column x of lists; sizes are checked by the footer and again while reading.

A damaged footer can make the library abort, not merely fail, so that files are read in a sandbox.
"""

import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certiset.core.class_names import NamedTruths
from certiset.core.data.arrays import INSTEAD_OF_NAMES
from certiset.core.data.formats.base import FileFormat
from certiset.core.data.frame import Column, Frame
from certiset.core.data.limits import Limits
from certiset.core.data.tables import Columns, check_numbers_left
from certiset.core.data.text_codes import TextCodes
from certiset.core.errors import DataError, first_line

_ROWS_AT_ONCE = 65_536
_VALUES_AT_ONCE = 2**23


def _read(
    file: Path, target: str | None, limits: Limits
) -> tuple[NDArray[Any] | Frame, NDArray[Any] | NamedTruths | None]:
    # Here and below, pyarrow is loaded only where a file is read: whoever asks for suffixes may not have it.
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        with pq.ParquetFile(file) as table:
            metadata = table.metadata
            limits.check_columns(metadata.num_columns)
            limits.check_unpacked(_claimed(metadata))
            schema = table.schema_arrow
            columns = Columns.of(schema.names, target, limits)
            texts = [place for place, field in enumerate(schema) if _is_text(field.type)]
            for place, field in enumerate(schema):
                if place not in texts or (place in columns.targets and len(columns.targets) > 1):
                    _check_type(field.name, field.type)
        # As codes: text that is repeated may unpack to many times its size.
        with pq.ParquetFile(file, read_dictionary=[schema.names[place] for place in texts]) as table:
            return _arrays(table, columns, {place: TextCodes(limits) for place in texts}, limits)
    except pa.ArrowMemoryError:
        raise MemoryError from None
    except UnicodeDecodeError:
        raise DataError("The file is not a whole Parquet file: a column's name is not UTF-8, or its text.") from None
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"The file is not a whole Parquet file: {first_line(error).rstrip('.')}.") from None


def _claimed(metadata: Any) -> int:
    """Bytes of all numbers, by the footer; the reader counts again, in case the footer lies."""
    groups = [metadata.row_group(group) for group in range(metadata.num_row_groups)]
    values = sum(group.column(place).num_values for group in groups for place in range(group.num_columns))
    return int(max(8 * values, *(group.total_byte_size for group in groups), 0, 0))


def _arrays(
    table: Any, columns: Columns, texts: dict[int, TextCodes], limits: Limits
) -> tuple[NDArray[Any] | Frame, NDArray[Any] | NamedTruths | None]:
    parts: dict[int, list[NDArray[Any]]] = {place: [] for place in range(len(columns.names)) if place not in texts}
    rows = size = 0
    a_row = _claimed(table.metadata) // 8 // max(1, table.metadata.num_rows)
    for batch in table.iter_batches(batch_size=max(1, min(_ROWS_AT_ONCE, _VALUES_AT_ONCE // max(1, a_row)))):
        for place, name in enumerate(columns.names):
            if place in texts:
                _add_texts(texts[place], batch.column(place))
                continue
            array = _numbers(batch.column(place), name, rows, missing=place not in columns.targets)
            parts[place].append(array)
            size += array.nbytes
            limits.check_unpacked(size)
        rows += batch.num_rows
    if not rows:
        raise DataError("The file has no rows.")
    whole = {}
    for place in list(parts):
        if len({part.shape[1:] for part in parts[place]}) > 1:
            raise DataError(f"Column {columns.names[place]!r} has lists of different lengths.")
        whole[place] = np.concatenate(parts.pop(place))
    found = {place: codes.column() for place, codes in texts.items()}
    further: dict[str, Column] = {
        columns.names[place]: column for place, column in found.items() if place not in columns.targets
    }
    named = columns.named_truths(found)
    numbers = _joined(whole, columns.targets) if columns.targets and named is None else None
    return _frame(whole, columns, further), numbers if named is None else named


def _frame(whole: dict[int, NDArray[Any]], columns: Columns, further: dict[str, Column]) -> Frame:
    inputs = [place for place in columns.inputs if place in whole]
    check_numbers_left(len(inputs))
    x = _joined(whole, inputs)
    if all(whole[place].ndim == 1 for place in inputs):
        return Frame(x.reshape(len(x), -1), [columns.names[place] for place in inputs], further)
    if len(inputs) == 1:
        # A single column of lists is x itself, as images are: its numbers have no names.
        return Frame(x, None, further)
    names = [name for place in inputs for name in _names(columns.names[place], whole[place])]
    return Frame(x, names, further)


def _names(name: str, values: NDArray[Any]) -> list[str]:
    """Of the numbers of a column, which may hold lists."""
    return [name] if values.ndim == 1 else [f"{name}[{place}]" for place in range(math.prod(values.shape[1:]))]


def _joined(whole: dict[int, NDArray[Any]], places: list[int]) -> NDArray[Any]:
    if len(places) == 1:
        return whole[places[0]]
    return np.concatenate([whole[place].reshape(len(whole[place]), -1) for place in places], axis=1)


def _add_texts(codes: TextCodes, column: Any) -> None:
    """A piece of a column of text, which comes as codes."""
    import pyarrow.compute as pc  # noqa: PLC0415

    if not hasattr(column, "indices"):
        column = column.dictionary_encode()
    used = pc.unique(column.indices.drop_null())
    values = dict(zip(used.to_pylist(), column.dictionary.take(used).to_pylist(), strict=True))
    for place in column.indices.to_pylist():
        codes.add(None if place is None else values[place])


def _is_text(kind: Any) -> bool:
    from pyarrow import types  # noqa: PLC0415

    plain = kind.value_type if types.is_dictionary(kind) else kind
    return bool(types.is_string(plain) or types.is_large_string(plain))


def _check_type(name: str, kind: Any) -> None:
    """Before anything is decoded: a small file can hold a string that unpacks to gigabytes."""
    from pyarrow import types  # noqa: PLC0415

    leaf = kind
    while _is_list(leaf):
        leaf = leaf.value_type
    times = leaf is kind and (types.is_timestamp(kind) or types.is_date(kind))
    if not (types.is_boolean(leaf) or types.is_integer(leaf) or types.is_floating(leaf) or times):
        advice = f" {INSTEAD_OF_NAMES}" if _is_text(kind) else ""
        raise DataError(f"Column {name!r} holds {kind}, not numbers.{advice}")


def _is_list(kind: Any) -> bool:
    from pyarrow import types  # noqa: PLC0415

    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def _numbers(column: Any, name: str, before: int, width: int = 1, *, missing: bool = False) -> NDArray[Any]:
    """(rows, ...) of a column's piece; lists nest to any depth. ``width`` values make a row.

    Where numbers may be missing, they are NaN; not inside lists.
    """
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415

    if missing and not _is_list(column.type):
        return _column(column, name, before)
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


def _column(column: Any, name: str, before: int) -> NDArray[Any]:
    """Numbers or times, some of which may be missing."""
    import pyarrow as pa  # noqa: PLC0415

    if pa.types.is_date(column.type):
        column = column.cast(pa.timestamp("ms"))
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.int64())
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    array = np.asarray(column.cast(pa.float64(), safe=False) if column.null_count else column)
    if array.dtype.kind == "f":
        infinite = np.flatnonzero(np.isinf(array))
        if len(infinite):
            raise DataError(
                f"Row {before + int(infinite[0]) + 1}, column {name!r} is {array[infinite[0]]}, which is not finite."
            )
    return array


PARQUET = FileFormat(
    name="Parquet",
    suffixes=(".parquet",),
    summary="columns of numbers, of text or of times, or of lists of numbers that have one length",
    read=_read,
    sandboxed=True,
)
