"""Rows whose columns have names: stored tables and data frames, asked for their columns in one way.

A data frame is known by what it can do (`.columns` or `.column_names`, and `frame[name]`): pandas, polars and pyarrow
have such, and none of them is needed here. Names count if all of them are text.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certiset.core.data_frames import frame_names, index_advice, is_missing, nearest, shown_names
from certiset.core.errors import DataError

COLUMN_NAMES = "column_names"
"""the array of an .npz file that names the columns of x"""
_ROWS_AT_ONCE = 65_536
_WHOLE = 2.0**53
"""up to which a float tells whole numbers apart"""


@dataclass(frozen=True)
class TextColumn:
    """A column of text, as codes."""

    codes: NDArray[np.int32]
    """(rows,): places in ``values``, -1 where nothing is given"""
    values: list[str]
    """in alphabetical order, each once"""

    @classmethod
    def of(cls, cells: Sequence[Any]) -> "TextColumn":
        """Of one entry per row; None and NaN are missing, all else is its text."""
        texts = [None if is_missing(cell) else text_of(cell) for cell in cells]
        values = sorted({text for text in texts if text is not None})
        places = {value: place for place, value in enumerate(values)}
        codes = np.fromiter((-1 if text is None else places[text] for text in texts), np.int32, len(texts))
        return cls(codes, values)


def text_of(cell: Any) -> str:
    """Of a number as of a text: whole numbers have no point (1, 1.0 and true are "1"), whatever they came as."""
    if isinstance(cell, bool | int | np.integer | np.bool_):
        return str(int(cell))
    if isinstance(cell, float | np.floating):
        number = float(cell)
        return str(int(number)) if abs(number) < _WHOLE and number == int(number) else str(cell)
    return str(cell)


Column: TypeAlias = NDArray[Any] | TextColumn
"""one entry per row: numbers, NaN where nothing is given, or text"""


def column_values(column: Column) -> tuple[str | float | None, ...]:
    """One entry per row, as JSON can have it: None where nothing is given."""
    if isinstance(column, TextColumn):
        return tuple(None if code < 0 else column.values[code] for code in column.codes.tolist())
    return tuple(value if math.isfinite(value) else None for value in column.tolist())


@dataclass(frozen=True)
class Frame:
    x: ArrayLike
    """(rows, ...) of numbers; (rows, columns) where the columns have names, NaN where nothing is given"""
    names: list[str] | None = None
    """of the columns of x"""
    further: Mapping[str, Column] = field(default_factory=dict)
    """columns that are no inputs unless a model asks for them by name: text, and what came beside x"""

    def column(self, name: str, role: str) -> Column:
        """The column of that name; ``role`` is the option that names it."""
        if self.names is not None and name in self.names:
            return np.asarray(self.x)[:, self.names.index(name)]
        if name in self.further:
            return self.further[name]
        known = [*(self.names or []), *self.further]
        if not known:
            raise DataError(f"{role} names the column {name!r}, but the columns of the data have no names.", field=role)
        raise DataError(f"{role}: there is no column {name!r}{nearest(name, known)}.", field=role)

    def inputs(self, wanted: Sequence[str] | None, leave_out: Collection[str]) -> "tuple[ArrayLike, list[str] | None]":
        """The inputs of a model, and their names: the columns that it wants, or all of numbers but some.

        Without names, all of x.
        """
        if self.names is None:
            return self.x, None
        chosen = list(wanted) if wanted is not None else [name for name in self.names if name not in leave_out]
        places = [self._place(name) for name in chosen]
        x = np.asarray(self.x)
        first, last = (places[0], places[-1] + 1) if places else (0, 0)
        # Neighbouring columns are a view: data of gigabytes need not be copied.
        x = x[:, first:last] if places == list(range(first, last)) else x[:, places]
        _check_complete(x, chosen)
        return x, chosen

    def _place(self, name: str) -> int:
        assert self.names is not None
        if name in self.names:
            return self.names.index(name)
        found = self.further.get(name)
        if isinstance(found, TextColumn):
            row = int(np.argmax(found.codes >= 0))
            shown = found.values[found.codes[row]][:40] if found.values else ""
            raise _error(
                f"The model takes the column {name!r}, but it holds text ({shown!r} in row {row + 1}), not numbers."
            )
        known = [*self.names, *self.further]
        raise _error(f"The model takes a column {name!r}, and the data have none{nearest(name, known)}.")

    @property
    def texts(self) -> list[str]:
        return [name for name, column in self.further.items() if isinstance(column, TextColumn)]


def in_order(x: Any, columns: Sequence[str] | None, others: Collection[str] = ()) -> Any:
    """Inputs to predict for: a data frame's columns are put in order by their names, anything else is left as it is.

    ``columns`` are the names that the predictor knows, ``others`` those of columns that may come with them.
    """
    names = names_of(x)
    if columns is None or names is None:
        return x
    unknown = [name for name in names if name not in columns and name not in others]
    if unknown:
        raise _error(f"x has columns that the predictor does not know: {shown_names(unknown)}.{index_advice(unknown)}")
    return as_frame(x).inputs(columns, ())[0]


def as_frame(x: Any) -> Frame:
    """What was given as x, with the names of its columns if it has some."""
    if isinstance(x, Frame):
        return x
    names = names_of(x)
    if names is None:
        return Frame(x)
    check_distinct(names, field="x")
    columns = {name: as_column(x[name]) for name in names}
    numbers = {name: column for name, column in columns.items() if not isinstance(column, TextColumn)}
    further = {name: column for name, column in columns.items() if isinstance(column, TextColumn)}
    stacked = np.column_stack(list(numbers.values())) if numbers else np.empty((len(x), 0))
    return Frame(stacked, list(numbers), further)


def check_distinct(names: Iterable[str], field: str | None = None) -> None:
    """That no two columns have one name."""
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        raise DataError(f"Two columns are named {twice!r}.", field=field)


def names_of(x: Any) -> list[str] | None:
    """The names of a data frame's columns; None for anything else, and where some are no text."""
    return x.names if isinstance(x, Frame) else frame_names(x)


def as_column(given: Any) -> Column:
    """One column of a data frame, or an array of one entry per row."""
    values = given.to_numpy() if hasattr(given, "to_numpy") else np.asarray(given)
    if values.dtype.kind == "M":
        numbers = values.astype("datetime64[ns]").astype(np.float64)
        return np.where(np.isnat(values), np.nan, numbers)
    if values.dtype.kind in "biuf":
        return values
    cells = _cells(values)
    if values.dtype.kind == "O" and all(isinstance(cell, int | float) or is_missing(cell) for cell in cells):
        return np.array([np.nan if is_missing(cell) else float(cell) for cell in cells])
    return TextColumn.of(cells)


def _cells(values: NDArray[Any]) -> list[Any]:
    """Bytes as the text that they are."""
    try:
        return [cell.decode() if isinstance(cell, bytes) else cell for cell in values.tolist()]
    except (ValueError, SystemError):
        # NumPy's letters may be no letters of Unicode, and bytes no UTF-8.
        raise DataError("An array of text holds something that is not text.") from None


def _check_complete(x: NDArray[Any], names: Sequence[str]) -> None:
    if x.dtype.kind != "f":
        return
    for start in range(0, len(x), _ROWS_AT_ONCE):
        missing = np.isnan(x[start : start + _ROWS_AT_ONCE])
        if missing.any():
            row, place = map(int, np.argwhere(missing)[0])
            raise _error(
                f"Column {names[place]!r} is an input, and has no number in row {start + row + 1}: fill it in, leave "
                "the row out, or name the inputs in the model's columns."
            )


def _error(message: str) -> DataError:
    return DataError(message, field="x")
