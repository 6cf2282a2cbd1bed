"""CSV with a header line: read in blocks of lines by NumPy; only a block that fails is looked at cell by cell."""

import csv
import itertools
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from certiset.core.class_names import NamedTruths
from certiset.core.data.formats.base import FileFormat
from certiset.core.data.frame import Frame, TextColumn
from certiset.core.data.limits import Limits
from certiset.core.data.tables import Columns
from certiset.core.data.text_codes import TextCodes
from certiset.core.errors import DataError

_BLOCK_BYTES = 2**23
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|nan|inf|infinity)", re.ASCII | re.IGNORECASE)
_MISSING = ("", "na", "n/a", "nan", "null", "none")
"""cells of a column of numbers that hold none"""
_NOT_A_NUMBER = float("nan")


def _read(file: Path, target: str | None, limits: Limits) -> tuple[Frame, NDArray[Any] | NamedTruths | None]:
    with file.open("rb") as stream:
        columns = _header(stream, target, limits)
        blocks, rows = [], 0
        texts: set[int] = set()
        for lines in _blocks(_lines(stream, limits, first=2)):
            blocks.append(_numbers(lines, columns, rows, texts))
            rows += len(lines)
            limits.check_unpacked(8 * rows * len(columns.names))
    if not blocks:
        raise DataError("There are no rows below the header.")
    return columns.split(np.concatenate(blocks), _texts(file, target, limits, sorted(texts)))


def _header(stream: BinaryIO, target: str | None, limits: Limits) -> Columns:
    header = next(_lines(stream, limits, first=1), None)
    if header is None:
        raise DataError("The file is empty: a header line with the columns' names is needed.")
    names = [name.strip() for name in _cells(header[1].removeprefix("\ufeff"), 1)]
    return Columns.of(names, target, limits)


def _texts(file: Path, target: str | None, limits: Limits, places: list[int]) -> dict[int, TextColumn]:
    """Columns of text, in a second pass: only at the end of the first is it known which they are."""
    found = {place: TextCodes(limits) for place in places}
    if not found:
        return {}
    with file.open("rb") as stream:
        _header(stream, target, limits)
        for number, text in _lines(stream, limits, first=2):
            cells = _cells(text, number)
            for place, codes in found.items():
                codes.add(cells[place].strip() or None)
    return {place: codes.column() for place, codes in found.items()}


def _lines(stream: BinaryIO, limits: Limits, first: int) -> Iterator[tuple[int, str]]:
    """Numbered lines that are not blank."""
    for number in itertools.count(first):
        line = stream.readline(limits.line_bytes + 1)
        if not line:
            return
        if len(line) > limits.line_bytes:
            raise DataError(f"Line {number} is longer than {limits.line_bytes:,} bytes.")
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            raise DataError(f"Line {number} is not UTF-8 at byte {error.start + 1}.") from None
        if text.strip():
            yield number, text


def _blocks(lines: Iterator[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    block: list[tuple[int, str]] = []
    size = 0
    for line in lines:
        block.append(line)
        size += len(line[1])
        if size > _BLOCK_BYTES:
            yield block
            block, size = [], 0
    if block:
        yield block


def _numbers(lines: list[tuple[int, str]], columns: Columns, before: int, texts: set[int]) -> NDArray[np.float64]:
    """NaN where there is no number; columns in which something else was found are added to ``texts``."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table: NDArray[Any] = np.loadtxt(
                (text for _, text in lines), delimiter=",", comments=None, quotechar='"', ndmin=2, dtype=np.float64
            )
    except ValueError:
        table = np.empty((0, 0))
    if table.shape == (len(lines), len(columns.names)) and np.isfinite(table).all():
        return table
    return np.array([_row(row, *line, columns, texts) for row, line in enumerate(lines, start=before + 1)])


def _row(row: int, number: int, text: str, columns: Columns, texts: set[int]) -> list[float]:
    """The same cell by cell, with the place of the first invalid one."""
    cells = _cells(text, number)
    if len(cells) != len(columns.names):
        raise DataError(
            f"Row {row} (line {number}) has {len(cells)} cells, but the header has {len(columns.names)} columns."
        )
    values = []
    for place, cell in enumerate(cells):
        value = _NOT_A_NUMBER if place in texts else _number(cell)
        missing = value is _NOT_A_NUMBER and cell.strip().lower() in _MISSING
        if value is None or (missing and place in columns.targets and place not in texts):
            raise _flaw(f"Row {row} (line {number}), column {columns.names[place]!r}", cell)
        if value is _NOT_A_NUMBER and not missing:
            texts.add(place)
        values.append(value)
    return values


def _number(cell: str) -> float | None:
    """NaN for what is not a number, None for one that is not finite."""
    stripped = cell.strip()
    if not _NUMBER.fullmatch(stripped):
        return _NOT_A_NUMBER
    value = float(stripped)
    if np.isnan(value):
        return _NOT_A_NUMBER
    return value if np.isfinite(value) else None


def _flaw(where: str, cell: str) -> DataError:
    shown = cell.strip()
    if not shown:
        return DataError(f"{where} is empty: every cell must hold a number.")
    if _NUMBER.fullmatch(shown):
        return DataError(f"{where} holds {shown}, and every number must be finite.")
    return DataError(f"{where} holds {shown[:40]!r}, which is not a number.")


def _cells(text: str, number: int) -> list[str]:
    try:
        rows = list(csv.reader([text], strict=True))
    except csv.Error as error:
        raise DataError(f"Line {number} cannot be read as CSV: {error}.") from None
    return rows[0]


CSV = FileFormat(
    name="CSV",
    suffixes=(".csv",),
    summary="a header line with the columns' names, and a line for each row",
    read=_read,
)
