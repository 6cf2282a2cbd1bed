"""Sets for every row of a file, piece by piece: in bounded memory, and resumed where a run was cut off.

Each piece is written whole into a folder beside the answer; only when all are there do they become the answer. Whoever
runs the same command again goes on behind the last piece. What belongs to another input or predictor is refused.
"""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from certiset.core.batch.set_predictor import SetPredictor
from certiset.core.batch.table_formats import TABLE_FORMATS, TableFormat
from certiset.core.errors import DataError, FileKindError
from certiset.core.whole_file import written_whole
from certiset.extras import explaining

_NUMBERS_AT_ONCE = 2**22
_MOST_ROWS = 65_536
_PLAN = "plan.json"

Told = Callable[[int, int | None], None]
"""takes the rows that are done, and how many there are if that is known"""


@explaining("certiset.batch.predict_file")
def predict_file(
    source: str | Path, answer: str | Path, predictor: SetPredictor, *, told: Told | None = None, restart: bool = False
) -> int:
    """Writes the rows of ``source`` with their sets to ``answer`` (Parquet or CSV each) and returns their number.

    ``restart`` forgets what an earlier run that was cut off has left.
    """
    for file in (source, answer):
        _format(Path(file))
    parts = Path(f"{answer}.parts")
    if restart:
        shutil.rmtree(parts, ignore_errors=True)
    _begin(parts, _plan(Path(source), predictor))
    try:
        return _go_on(Path(source), Path(answer), parts, predictor, told)
    except DataError:
        if not _finished(parts):
            # Nothing to go on with: what is put right may be another file or another setting.
            shutil.rmtree(parts, ignore_errors=True)
        raise


def _go_on(source: Path, answer: Path, parts: Path, predictor: SetPredictor, told: Told | None) -> int:
    """Writes the pieces that are missing, and all of them to the answer."""
    read, write = _format(source), _format(answer)
    done = _finished(parts)
    rows, total = 0, read.count(source)
    at_once = rows_at_once(predictor.predictor.row_numbers)
    for number, batch in enumerate(read.batches(source, at_once, predictor)):
        if number >= done:
            try:
                found = predictor(batch)
            except DataError as error:
                where = f"rows {rows + 1:,} to {rows + batch.num_rows:,} of {source}, counted from there"
                raise type(error)(f"{where}: {error}", field=error.field) from None
            with written_whole(_part(parts, number)) as stream:
                write.write(stream, [found], first=number == 0)
        rows += batch.num_rows
        if told is not None:
            told(rows, total)
    if not rows:
        raise DataError(f"{source} has no rows.")
    with written_whole(answer) as stream:
        write.join(stream, [_part(parts, number) for number in range(_finished(parts))])
    shutil.rmtree(parts)
    return rows


def _format(file: Path) -> TableFormat:
    found = TABLE_FORMATS.get(file.suffix.lower())
    if found is None:
        raise FileKindError(f"{file.name}: the name must end in {' or '.join(TABLE_FORMATS)}.")
    return found


def _plan(source: Path, predictor: SetPredictor) -> dict[str, Any]:
    """All that two runs must have in common if the second is to go on with the first."""
    try:
        about = source.stat()
    except OSError as error:
        raise DataError(f"{source} cannot be read: {error.strerror}.") from None
    settings = {name: getattr(predictor, name) for name in ("x", "keep", "member", "groups", "alpha")}
    certificate = predictor.predictor.certificate.id
    return {"bytes": about.st_size, "changed": about.st_mtime_ns, "certificate": certificate, **settings}


def _begin(parts: Path, plan: dict[str, Any]) -> None:
    file = parts / _PLAN
    if not file.exists():
        parts.mkdir(parents=True, exist_ok=True)
        with written_whole(file) as stream:
            stream.write(json.dumps(plan).encode())
        return
    if json.loads(file.read_bytes()) != plan:
        raise DataError(
            f"{parts} holds an unfinished run on another input, or with another predictor or other settings: start "
            "again with --restart (in Python restart=True), which forgets it."
        )


def _part(parts: Path, number: int) -> Path:
    return parts / f"{number:08d}"


def _finished(parts: Path) -> int:
    """How many pieces are there, from the first on."""
    number = 0
    while _part(parts, number).exists():
        number += 1
    return number


def rows_at_once(numbers: int) -> int:
    """As many rows of so many numbers each as bounded memory has room for."""
    return max(1, min(_MOST_ROWS, _NUMBERS_AT_ONCE // max(1, numbers)))
