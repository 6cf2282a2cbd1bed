"""The sets of all rows of a stored data set, written piece by piece: memory stays the same however many there are."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certiset.core.batch.set_table import as_arrow, group_table, set_columns
from certiset.core.batch.table_files import rows_at_once
from certiset.core.data.arrays import check_inputs
from certiset.core.data.case_names import CaseNames
from certiset.core.data.frame import Frame
from certiset.core.errors import DataError, StoppedError
from certiset.core.fit.frame_rows import frame_groups, frame_inputs
from certiset.core.fit.precision import full_precision
from certiset.core.fit.predictor import Predictor

IN_PYTHON = "use certiset.batch in Python, and say the group of every row"


def write_sets(
    predictor: Predictor,
    frame: Frame,
    file: Path,
    *,
    alpha: float | None = None,
    members: NDArray[np.integer[Any]] | int | None = None,
    cases: str | None = None,
    progress: Callable[[dict[str, Any]], object] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> int:
    """Writes a Parquet file with one row for each of the table's, in their order, and returns their number.

    ``members`` says who answers, one for all or one for each row; otherwise each row draws its own. ``cases`` names a
    column that the answer repeats.
    """
    import pyarrow as pa  # noqa: PLC0415 (the worker's other jobs do without)
    import pyarrow.parquet as pq  # noqa: PLC0415

    asked, raw = predictor.asked_at(alpha), np.asarray(frame_inputs(predictor, frame))
    rows, at_once = len(raw), rows_at_once(predictor.row_numbers)
    codes = frame_groups(predictor, frame, rows, IN_PYTHON)
    names = None if cases is None else CaseNames.of(frame, cases)
    writer: Any = None
    try:
        with full_precision(predictor.device):
            for start in range(0, rows, at_once):
                if should_stop is not None and should_stop():
                    raise StoppedError("The batch was asked to stop.")
                part = slice(start, min(start + at_once, rows))
                chosen = members[part] if isinstance(members, np.ndarray) else members
                drawn = predictor.draw_members(part.stop - start, chosen)
                groups = None if codes is None else codes[part]
                sets = asked.sets_of(_checked(predictor, raw, part), predictor.cells(drawn, groups))
                columns = {"row": np.arange(start + 1, part.stop + 1), **set_columns(sets, drawn)}
                columns |= {} if groups is None else group_table(predictor, groups)
                columns |= {} if names is None else {"case": names.texts(part)}
                batch = pa.RecordBatch.from_arrays([as_arrow(one) for one in columns.values()], names=list(columns))
                if writer is None:
                    writer = pq.ParquetWriter(file, batch.schema)
                writer.write_batch(batch)
                if progress is not None:
                    progress(_report(part.stop, rows))
    finally:
        if writer is not None:
            writer.close()
    return rows


def _checked(predictor: Predictor, raw: NDArray[Any], part: slice) -> NDArray[Any]:
    try:
        return check_inputs(predictor.scorer.model, raw[part])
    except DataError as error:
        where = f"rows {part.start + 1:,} to {part.stop:,} of the data set, counted from there"
        raise DataError(f"{where}: {error}", field=error.field) from None


def _report(done: int, rows: int) -> dict[str, Any]:
    return {"phase": "predict", "step": done, "steps": rows, "fraction": done / rows, "metrics": {}}
