"""Rows of a data frame as numbers, for all that counts, compares and hashes rows; and back, for the model.

A model in its owner's process takes a table as it is, with text and missing values. Each cell is given a number: its
own, a hash for what is no number, NaN where nothing is given. The table that was read last is kept, so that the model
gets these very rows, whatever their types are. Each thread has its own.
"""

import hashlib
import threading
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certiset.core.data_frames import frame_names, index_advice, is_missing, nearest, shown_names
from certiset.core.errors import DataError

_HASH_BYTES = 6
_EXACT = 2**53
"""whole numbers up to which floats have them all"""


class TableRows:
    def __init__(self, columns: Sequence[str] | None, width: int) -> None:
        self.columns = None if columns is None else list(columns)
        """their names, in the order in which the model takes them; None for an array of cells"""
        self.width = width
        self._read = threading.local()

    def read(self, table: Any, others: Collection[str] = ()) -> NDArray[np.float64]:
        """(rows, columns); ``others`` are columns that may be there as well."""
        chosen = self._chosen(table, others)
        codes = np.empty((len(table), self.width))
        for place in range(self.width):
            codes[:, place] = _numbers(_column(chosen, place, self.columns))
        codes += 0.0  # -0.0 is 0.0, also where rows are told apart by their bytes
        self._read.table = chosen
        self._read.places = {row.tobytes(): place for place, row in enumerate(codes)}
        return codes

    def rows(self, codes: NDArray[np.float64]) -> Any:
        """The rows of the table that was read last, by their numbers."""
        known = getattr(self._read, "places", {})
        try:
            places = np.array([known[row.tobytes()] for row in np.ascontiguousarray(codes)], dtype=np.int64)
        except KeyError:
            raise DataError("These rows are none of the table that was read last.", field="x") from None
        return _taken(self._read.table, places)

    def _chosen(self, table: Any, others: Collection[str]) -> Any:
        """The table with the model's columns alone, in the model's order."""
        names = frame_names(table)
        if self.columns is None:
            cells = np.asarray(table, dtype=object)
            if cells.shape[1:] != (self.width,) and (cells.ndim, self.width) != (1, 1):
                raise _error(f"The model takes {self.width} columns, but x has rows of shape {cells.shape[1:]}.")
            return cells
        if names is None:
            return self._named(table)
        missing = next((name for name in self.columns if name not in names), None)
        if missing is not None:
            raise _error(f"The model takes a column {missing!r}, and x has none{nearest(missing, names)}.")
        unknown = [name for name in names if name not in self.columns and name not in others]
        if unknown:
            raise _error(f"x has columns that the model does not know: {shown_names(unknown)}.{index_advice(unknown)}")
        return table if names == self.columns else table[self.columns]

    def _named(self, table: Any) -> Any:
        """An array in the place of a table, if the table that came first was pandas': by the order of its columns."""
        first: Any = getattr(self._read, "table", None)
        if (
            type(first).__module__.partition(".")[0] != "pandas"
            or np.ndim(table) != 2
            or np.shape(table)[1] != self.width
        ):
            raise _error(f"x must be a table with the columns {shown_names(self.columns or [])}.")
        make: Any = type(first)
        return make(np.asarray(table), columns=self.columns)

    def __getstate__(self) -> dict[str, Any]:
        return {"columns": self.columns, "width": self.width}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]


def is_table(x: Any) -> bool:
    """Whether rows have to be kept as they are: a data frame, or anything but numbers, such as a list of texts."""
    if frame_names(x) is not None:
        return True
    if isinstance(x, list | tuple):
        return bool(x) and (isinstance(x[0], str) or (isinstance(x[0], list | tuple) and _has_text(x[0])))
    return getattr(getattr(x, "dtype", None), "kind", "") in ("O", "U", "S")


def _has_text(row: Any) -> bool:
    return any(isinstance(cell, str) or cell is None for cell in row)


def _column(table: Any, place: int, names: Sequence[str] | None) -> Any:
    if names is not None:
        return table[names[place]]
    return table if table.ndim == 1 else table[:, place]


def _taken(table: Any, places: NDArray[np.int64]) -> Any:
    if isinstance(table, np.ndarray):
        return table[places]
    if hasattr(table, "iloc"):
        return table.iloc[places]
    return table.take(places) if hasattr(table, "take") else table[places]


def _numbers(column: Any) -> NDArray[np.float64]:
    values = column.to_numpy() if hasattr(column, "to_numpy") else np.asarray(column)
    if values.dtype.kind in "bf" or (values.dtype.kind in "iu" and np.all(np.abs(values.astype(np.float64)) < _EXACT)):
        return np.asarray(values, dtype=np.float64)
    known: dict[Any, float] = {}
    return np.array([_code(cell, known) for cell in values.tolist()], dtype=np.float64)


def _code(cell: Any, known: dict[Any, float]) -> float:
    if is_missing(cell):
        return np.nan
    if isinstance(cell, bool | int | float) and abs(cell) < _EXACT:
        return float(cell)
    key = (type(cell).__name__, cell if isinstance(cell, str) else repr(cell))
    if key not in known:
        digest = hashlib.blake2b("\0".join(key).encode("utf-8", "replace"), digest_size=_HASH_BYTES).digest()
        known[key] = float(int.from_bytes(digest, "little"))
    return known[key]


def _error(message: str) -> DataError:
    return DataError(message, field="x")
