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

from certiset.core.data.formats.base import FileFormat
from certiset.core.data.limits import Limits
from certiset.core.data.tables import Columns
from certiset.core.errors import DataError

_BLOCK_BYTES = 2**23
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|nan|inf|infinity)", re.ASCII | re.IGNORECASE)


def _read(file: Path, target: str | None, limits: Limits) -> tuple[NDArray[Any], NDArray[Any] | None]:
    with file.open("rb") as stream:
        header = next(_lines(stream, limits, first=1), None)
        if header is None:
            raise DataError("The file is empty: a header line with the columns' names is needed.")
        names = [name.strip() for name in _cells(header[1].removeprefix("\ufeff"), 1)]
        columns = Columns.of(names, target, limits)
        blocks, rows = [], 0
        for lines in _blocks(_lines(stream, limits, first=2)):
            blocks.append(_numbers(lines, columns, rows))
            rows += len(lines)
            limits.check_unpacked(8 * rows * len(names))
    if not blocks:
        raise DataError("There are no rows below the header.")
    table = np.concatenate(blocks)
    return columns.split(table)


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


def _numbers(lines: list[tuple[int, str]], columns: Columns, before: int) -> NDArray[np.float64]:
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
    return np.array([_row(row, *line, columns) for row, line in enumerate(lines, start=before + 1)])


def _row(row: int, number: int, text: str, columns: Columns) -> list[float]:
    """The same cell by cell, with the place of the first invalid one."""
    cells = _cells(text, number)
    if len(cells) != len(columns.names):
        raise DataError(
            f"Row {row} (line {number}) has {len(cells)} cells, but the header has {len(columns.names)} columns."
        )
    values = []
    for name, cell in zip(columns.names, cells, strict=True):
        where = f"Row {row} (line {number}), column {name!r}"
        if not cell.strip():
            raise DataError(f"{where} is empty: every cell must hold a number.")
        if not _NUMBER.fullmatch(cell.strip()):
            shown = cell.strip() if len(cell) < 40 else cell.strip()[:40] + "..."
            raise DataError(f"{where} holds {shown!r}, which is not a number.")
        value = float(cell)
        if not np.isfinite(value):
            raise DataError(f"{where} holds {cell.strip()}, and every number must be finite.")
        values.append(value)
    return values


def _cells(text: str, number: int) -> list[str]:
    try:
        rows = list(csv.reader([text], strict=True))
    except csv.Error as error:
        raise DataError(f"Line {number} cannot be read as CSV: {error}.") from None
    return rows[0]


CSV = FileFormat(
    name="CSV",
    suffixes=(".csv",),
    summary="a header line with the columns' names, and a line of numbers for each row",
    read=_read,
)
