"""Data frames, known by what they can do: pandas, polars and pyarrow have such, and none of them is needed here."""

import difflib
import math
from collections.abc import Sequence
from typing import Any

_SHOWN = 10
INDEX_COLUMNS = ("", "Unnamed: 0", "__index_level_0__")
"""what a row index is called once it was written to a file as if it were data"""


def frame_names(x: Any) -> list[str] | None:
    """The names of a data frame's columns; None for anything else, and where some are no text."""
    found = getattr(x, "column_names", None)
    found = found if isinstance(found, list) else getattr(x, "columns", None)
    if found is None or callable(found) or not hasattr(type(x), "__getitem__"):
        return None
    names = list(found)
    return [str(name) for name in names] if names and all(isinstance(name, str) for name in names) else None


def is_missing(cell: Any) -> bool:
    # pandas' NA is neither None nor a float, and says so by its name.
    return (
        cell is None or type(cell).__name__ in ("NAType", "NaTType") or (isinstance(cell, float) and math.isnan(cell))
    )


def nearest(name: str, known: Sequence[str]) -> str:
    """The rest of a sentence about a name that is not known: the nearest, or those that are."""
    near = difflib.get_close_matches(name, known, n=1)
    if near:
        return f"; the nearest is {near[0]!r}"
    return f"; there are {shown_names(known)}"


def shown_names(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")


def index_advice(names: Sequence[str]) -> str:
    """One more sentence where one of these columns seems to be a row index that was saved with the data."""
    found = next((name for name in names if name in INDEX_COLUMNS), None)
    if found is None:
        return ""
    return f" {found!r} looks like a saved row index: write the file without it (index=False), or drop the column."
