"""Sets as columns of a table: what a set kind lists of itself, with the size and the member beside it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from certiset.core.fit.group_answers import all_group_words
from certiset.core.fit.predictor import Predictor
from certiset.core.sets import PredictionSets
from certiset.core.sets.base import Ragged


def set_columns(sets: PredictionSets, members: NDArray[np.int64]) -> dict[str, NDArray[Any] | Ragged]:
    """By name, one entry per row."""
    size = sets.size.astype(np.int64) if sets.whole_sizes else sets.size
    return {**sets.table_columns(), "size": size, "member": members}


def group_table(predictor: Predictor, codes: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    """The group of each row, columns that cross joined by a comma, and why everything is in its set; else empty."""
    said = all_group_words(predictor)
    names = ["" if one["group"] is None else one["group"] for one in said]
    joined = [name if isinstance(name, str) else ", ".join(name) for name in names]
    reasons = [one.get("whole_space", "") for one in said]
    return {"group": np.array(joined, dtype=object)[codes], "whole_space": np.array(reasons, dtype=object)[codes]}


def as_objects(column: NDArray[Any] | Ragged) -> NDArray[Any]:
    """(rows,) or (rows, numbers) for NumPy and pandas: lists of different lengths become an array of arrays."""
    if not isinstance(column, Ragged):
        return column
    rows = np.empty(len(column.ends), dtype=object)
    rows[:] = np.split(column.values, column.ends[:-1])
    return rows


def as_arrow(column: NDArray[Any] | Ragged) -> Any:
    """An Arrow array: numbers, texts, or lists of them."""
    import pyarrow as pa  # noqa: PLC0415

    if isinstance(column, Ragged):
        ends = np.concatenate([[0], column.ends])
        return pa.LargeListArray.from_arrays(pa.array(ends, pa.int64()), _array(column.values))
    if column.ndim == 1:
        return _array(column)
    flat = np.ascontiguousarray(column).reshape(-1)
    return pa.FixedSizeListArray.from_arrays(pa.array(flat), int(np.prod(column.shape[1:])))


def _array(values: NDArray[Any]) -> Any:
    """Texts are texts also where there are none, so that all pieces of a file have one form."""
    import pyarrow as pa  # noqa: PLC0415

    return pa.array(values, pa.string()) if values.dtype.kind == "O" else pa.array(values)
