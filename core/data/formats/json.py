"""JSON: {"x": [...], "y": [...]}, or a list of records with named fields."""

import json
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from certiset.core.class_names import NamedTruths
from certiset.core.data.arrays import INSTEAD_OF_NAMES
from certiset.core.data.formats.base import FileFormat
from certiset.core.data.frame import Column, Frame, TextColumn
from certiset.core.data.limits import Limits
from certiset.core.data.tables import Columns
from certiset.core.errors import DataError, TooLargeError


def _read(file: Path, target: str | None, limits: Limits) -> tuple[Frame, NDArray[Any] | NamedTruths | None]:
    if file.stat().st_size > limits.json_bytes:
        raise TooLargeError(f"A JSON file may have at most {limits.json_bytes:,} bytes: send more as .npz or .parquet.")
    try:
        content = json.loads(file.read_text(encoding="utf-8-sig"), parse_constant=_refuse, object_pairs_hook=_object)
    except UnicodeDecodeError as error:
        raise DataError(f"The file is not UTF-8 at byte {error.start + 1}.") from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"The file is not JSON: {error}.") from None
    if isinstance(content, list):
        return _records(content, target, limits)
    if not isinstance(content, dict) or "x" not in content or (target is not None and target not in content):
        wanted, field = ("x", None) if target is None else (f"x and {target}", "target")
        raise DataError(
            f"A JSON file must hold an object with {wanted}, or a list of objects, one for each row.", field=field
        )
    x = _array("x", content["x"])
    further = {
        name: _column(name, cells)
        for name, cells in content.items()
        if name not in ("x", target) and isinstance(cells, list) and len(cells) == len(x) and _is_flat(cells)
    }
    return Frame(x, None, further), None if target is None else _truths(target, content[target])


def _truths(target: str, cells: Any) -> NDArray[Any] | NamedTruths:
    """Numbers, or names of classes."""
    if isinstance(cells, list) and cells and all(isinstance(cell, str) for cell in cells):
        column = TextColumn.of(cells)
        return NamedTruths(column.codes.astype(np.int64), tuple(column.values))
    return _array(target, cells)


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number in JSON")


def _object(fields: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(fields)
    if len(content) < len(fields):
        names = [name for name, _ in fields]
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise ValueError(f"an object has the field {json.dumps(twice)[:40]} twice, and only one of them could count")
    return content


def _array(name: str, value: Any) -> NDArray[Any]:
    if not isinstance(value, list):
        raise DataError(f"{name} must be a list with one entry for each row.")
    shape: Any = None
    for row, entry in enumerate(value, start=1):
        try:
            found = _shape(entry)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{name}, row {row} {error}.") from None
        if shape is not None and found != shape:
            raise DataError(f"{name}, row {row} has the shape {found}, and the rows before it {shape}.")
        shape = found
    try:
        return np.array(value)
    except (ValueError, OverflowError):
        raise DataError(f"{name} holds a number that is too large.") from None


def _shape(entry: Any) -> tuple[int, ...]:
    """The shape of nested lists of numbers."""
    if isinstance(entry, int | float) and not isinstance(entry, bool):
        if isinstance(entry, float) and entry in (float("inf"), float("-inf")):
            raise ValueError("is not finite")
        return ()
    if not isinstance(entry, list):
        shown = json.dumps(entry)
        raise ValueError(f"holds {shown if len(shown) < 40 else shown[:40] + '...'}, which is not a number")
    shapes = {_shape(inner) for inner in entry}
    if len(shapes) > 1:
        raise ValueError("is not rectangular")
    return (len(entry), *(next(iter(shapes)) if shapes else ()))


def _records(records: list[Any], target: str | None, limits: Limits) -> tuple[Frame, NDArray[Any] | NamedTruths | None]:
    if not records or not isinstance(records[0], dict):
        raise DataError("A JSON list must hold objects, one for each row.")
    columns = Columns.of(list(records[0]), target, limits)
    limits.check_unpacked(8 * len(columns.names) * len(records))
    for row, record in enumerate(records):
        if not isinstance(record, dict) or set(record) != set(columns.names):
            raise DataError(f"Row {row + 1} does not have the same fields as row 1.")
    table = np.full((len(records), len(columns.names)), np.nan)
    texts = {}
    for place, name in enumerate(columns.names):
        cells = [record[name] for record in records]
        if place in columns.targets:
            named = any(isinstance(cell, str) for cell in cells) and not any(_is_number(cell) for cell in cells)
            expected = str if named else int | float
            wrong = next((row for row, cell in enumerate(cells) if not isinstance(cell, expected)), None)
            if wrong is not None:
                raise _not_a_number(wrong, name, cells[wrong])
        column = _column(name, cells)
        if isinstance(column, TextColumn):
            texts[place] = column
        else:
            table[:, place] = column
    return columns.split(table, texts)


def _is_number(cell: Any) -> bool:
    return isinstance(cell, int | float)


def _is_flat(cells: list[Any]) -> bool:
    return not any(isinstance(cell, list | dict | bool) for cell in cells)


def _column(name: str, cells: list[Any]) -> Column:
    """Numbers, NaN for null; text if there is some."""
    wrong = next((row for row, cell in enumerate(cells) if isinstance(cell, list | dict | bool)), None)
    if wrong is not None:
        raise _not_a_number(wrong, name, cells[wrong])
    if any(isinstance(cell, str) for cell in cells):
        return TextColumn.of([cell or None if isinstance(cell, str) else cell for cell in cells])
    column = np.empty(len(cells))
    for row, cell in enumerate(cells):
        try:
            column[row] = np.nan if cell is None else cell
        except OverflowError:
            raise DataError(f"Row {row + 1}, column {name!r} holds a number that is too large.") from None
    infinite = np.flatnonzero(np.isinf(column))
    if len(infinite):
        raise DataError(f"Row {infinite[0] + 1}, column {name!r} is not finite.")
    return column


def _not_a_number(row: int, name: str, cell: Any) -> DataError:
    advice = f" {INSTEAD_OF_NAMES}" if isinstance(cell, str) else ""
    return DataError(f"Row {row + 1}, column {name!r} holds {json.dumps(cell)[:40]}, which is not a number.{advice}")


JSON = FileFormat(
    name="JSON",
    suffixes=(".json",),
    summary='{"x": [...], "y": [...]} with one entry for each row, or a list of objects, one for each row',
    read=_read,
    reserves_x=True,
)
