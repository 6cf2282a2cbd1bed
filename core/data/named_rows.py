"""Rows whose columns are named beside them, for a predictor that knows its columns by name."""

from numpy.typing import ArrayLike

from certiset.core.data.arrays import as_numbers
from certiset.core.data.frame import Frame
from certiset.core.errors import DataError


def named_rows(x: ArrayLike, columns: list[str], known: list[str] | None) -> Frame:
    """``known`` are the predictor's names, if it has some; whether they are the same is asked of the frame."""
    if known is None:
        raise DataError("The predictor knows no names of columns: leave columns out.", field="columns")
    rows = as_numbers("x", x)
    if rows.ndim != 2 or rows.shape[1] != len(columns):
        raise DataError(f"{len(columns)} columns are named, and x has rows of shape {rows.shape[1:]}.", field="columns")
    if len(set(columns)) < len(columns):
        raise DataError("columns names one of them twice.", field="columns")
    return Frame(rows, columns)
