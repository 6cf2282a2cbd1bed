"""Files of truths: a line for each served set, with its prediction id and what came true."""

import csv
import json
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from certiset.service.cli.errors import CommandError

_LONGEST_LINE = 2**22
_COLUMNS = ("prediction_id", "y")


@dataclass(frozen=True)
class Line:
    number: int
    """in the file, from 1"""
    prediction_id: str
    y: float | list[float] | str
    x: list[Any] | None = None
    """the input again, where the file has it"""

    @property
    def outcome(self) -> tuple[str, Any, Any]:
        return self.prediction_id, self.y, self.x


def read_truths(file: Path) -> list[Line]:
    """All of them, or an error that names the first line that is wrong."""
    read = _READERS.get(file.suffix.lower())
    if read is None:
        raise CommandError(f"{file} is not one of {', '.join(_READERS)}.")
    try:
        with file.open(encoding="utf-8-sig", newline="") as stream:
            lines = [
                Line(number, _id(id, where), _truth(y, where), _input(x, where))
                for number, id, y, x in read(stream, file)
                for where in [f"{file}, line {number}"]
            ]
    except UnicodeDecodeError as error:
        raise CommandError(f"{file} is not UTF-8: {error.reason}.") from None
    if not lines:
        raise CommandError(f"{file} has no truths.")
    return lines


def truth_of(text: str, where: str) -> float | list[float] | str:
    """A class by its number or its name, a number, or the numbers of a vector."""
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        if "," not in text and text.strip().isprintable() and text.strip():
            return text.strip()
        numbers = []
    if not numbers or not all(math.isfinite(number) for number in numbers):
        raise CommandError(
            f"{where}: a truth must be a number, comma-separated numbers, or the name of a class, not "
            f"{text.strip()[:40]!r}."
        )
    return numbers if "," in text else numbers[0]


def _csv(stream: TextIO, file: Path) -> Iterator[tuple[int, Any, Any, Any]]:
    rows = csv.reader(stream, strict=True)
    try:
        header = [name.strip() for name in next(rows, [])]
        for name in _COLUMNS:
            if header.count(name) != 1:
                raise CommandError(f"{file} must have one column {name}; its first line has {', '.join(header)[:200]}.")
        id, y = (header.index(name) for name in _COLUMNS)
        for cells in rows:
            if len(cells) not in (0, len(header)):
                wrong = f"has {len(cells)} cells, and the first line {len(header)}"
                raise CommandError(f"{file}, line {rows.line_num}: this line {wrong}.")
            if cells:
                yield rows.line_num, cells[id], cells[y], None
    except csv.Error as error:
        raise CommandError(f"{file}, line {rows.line_num}: this is not CSV: {error}.") from None


def _json_lines(stream: TextIO, file: Path) -> Iterator[tuple[int, Any, Any, Any]]:
    number = 0
    while line := stream.readline(_LONGEST_LINE):
        number += 1
        if not line.strip():
            continue
        try:
            found = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise CommandError(f"{file}, line {number}: this is not JSON: {error}.") from None
        if not isinstance(found, dict):
            raise CommandError(f"{file}, line {number}: this must be an object with prediction_id and y.")
        yield number, found.get("prediction_id"), found.get("y"), found.get("x")


def _id(id: Any, where: str) -> str:
    if not isinstance(id, str) or not id.strip():
        raise CommandError(f"{where}: prediction_id is missing.")
    return id.strip()


def _truth(y: Any, where: str) -> float | list[float] | str:
    if isinstance(y, str) and y.strip():
        return truth_of(y, where)
    if _is_number(y):
        return float(y)
    if isinstance(y, list) and y and all(_is_number(one) for one in y):
        return [float(one) for one in y]
    shown = "is missing" if y in (None, "") else f"must be a number, or a list of numbers, not {json.dumps(y)[:40]}"
    raise CommandError(f"{where}: y {shown}.")


def _input(x: Any, where: str) -> list[Any] | None:
    if x is None or (isinstance(x, list) and x and all(_is_number(one) for one in x)):
        return x
    raise CommandError(f"{where}: x must be a list of the numbers that were asked, or be left out.")


def _is_number(value: Any) -> bool:
    # A whole number of JSON may be too large for a float.
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


_READERS = {".csv": _csv, ".jsonl": _json_lines}
