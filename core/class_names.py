"""Names of classes, and the numbers that stand for them: a class's number is the place of its name.

Truths may come as names or as numbers. Where the names are numbers themselves, such as the grades 1 to 5, a number is
taken for the name; otherwise for the place, from 0 on.
"""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from certiset.core.errors import DataError

_SHOWN = 10


@dataclass(frozen=True)
class NamedTruths:
    """Truths that are names, as a stored table has them."""

    codes: NDArray[np.int64]
    """(rows,): places in ``names``"""
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.codes)


def read_truths(y: Any, names: Sequence[str] | None, classes: int) -> tuple[Any, tuple[str, ...] | None]:
    """Truths as numbers, with the names of the classes: the model's, or, if it has none, the truths' own.

    These are in alphabetical order, as most libraries number classes; there must be as many as the model has classes.
    """
    if names is not None:
        return codes_of(y, names), tuple(names)
    found = as_named(y)
    if found is None:
        return y, None
    if len(found.names) != classes:
        _refuse(
            f"y holds {len(found.names)} names ({_listed(found.names)}), but the model has {classes} classes and does "
            "not name them: name them in the model's labels, in the order of its outputs."
        )
    return found.codes, found.names


def codes_of(y: Any, names: Sequence[str]) -> Any:
    """Truths as places in ``names``; numbers that are no names are left as they are."""
    found = as_named(y)
    if found is None:
        numbers = _as_whole(y) if _are_numbers(names) else None
        if numbers is None:
            return y
        values, codes = np.unique(numbers, return_inverse=True)
        found = NamedTruths(codes.reshape(-1), tuple(str(value) for value in values.tolist()))
    places = {name: place for place, name in enumerate(names)}
    unknown = next((place for place, name in enumerate(found.names) if name not in places), None)
    if unknown is not None:
        name, row = found.names[unknown], int(np.argmax(found.codes == unknown)) + 1
        near = difflib.get_close_matches(name, names, n=1)
        advice = f"did you mean {near[0]!r}?" if near else f"the model's classes are {_listed(names)}."
        _refuse(f"In y, row {row} is {name[:40]!r}, which is none of the model's classes: {advice}")
    return np.array([places[name] for name in found.names], dtype=np.int64)[found.codes]


def as_named(y: Any) -> NamedTruths | None:
    """Truths that are text; None for numbers."""
    if isinstance(y, NamedTruths):
        return y
    values = _cells(y)
    if values is None or values.dtype.kind not in "UO" or values.size == 0:
        return None
    flat = values.reshape(len(values), -1)
    if not any(isinstance(cell, str) for cell in flat[:, 0].tolist()):
        return None
    if flat.shape[1] != 1:
        _refuse(f"y must hold one name per row, not {flat.shape[1]} columns.")
    cells = flat[:, 0].tolist()
    missing = next((row for row, cell in enumerate(cells) if not isinstance(cell, str)), None)
    if missing is not None:
        _refuse(f"y holds names, but row {missing + 1} is {cells[missing]!r}: every row needs one.")
    names, codes = np.unique(np.array(cells, dtype=np.str_), return_inverse=True)
    return NamedTruths(codes.astype(np.int64), tuple(names.tolist()))


def names_of_values(values: Any) -> tuple[str, ...] | None:
    """The names of classes that a library numbers by the place of their values; None where values are their places."""
    array = np.asarray(values)
    if array.dtype.kind in "iuf":
        if np.array_equal(array, np.arange(len(array))):
            return None
        return tuple(str(int(value)) if value == int(value) else str(value) for value in array.tolist())
    return tuple(str(value) for value in array.tolist())


def _cells(y: Any) -> NDArray[Any] | None:
    if hasattr(type(y), "detach"):
        return None
    try:
        found = y.to_numpy(dtype=object) if type(y).__module__.partition(".")[0] == "pandas" else np.asarray(y)
    except (TypeError, ValueError):
        return None
    return found if found.ndim else None


def _as_whole(y: Any) -> NDArray[np.int64] | None:
    values = _cells(y)
    if values is None or values.dtype.kind not in "iuf" or not np.all(np.isfinite(values)):
        return None
    return values.reshape(-1).astype(np.int64) if np.all(values == np.floor(values)) else None


def _are_numbers(names: Sequence[str]) -> bool:
    return all(name.lstrip("-").isdigit() for name in names)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")


def _refuse(message: str) -> NoReturn:
    raise DataError(message, field="y")
