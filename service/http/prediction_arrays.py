"""What an .npz body asks: the array x, and beside it the names of rows and columns and the groups, if there are any."""

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from certiset.core.data.case_names import LONGEST_CASE
from certiset.core.data.formats.npz import HeaderCheck, read_arrays
from certiset.core.data.frame import COLUMN_NAMES
from certiset.core.data.group_labels import LONGEST_VALUE
from certiset.core.data.limits import Limits
from certiset.core.errors import DataError, OptionError, TooLargeError
from certiset.service.serving.set_query import SetQuery

_CASE, _GROUPS = "case", "groups"
_MOST_BYTES_OF_COLUMNS = 2**20
_LONGEST_BYTES = 4 * LONGEST_CASE
"""of a text in UTF-8, or in the four bytes a letter that NumPy takes"""
_MOST_CROSSED = 8

Arrays: TypeAlias = Mapping[str, NDArray[Any]]
"""by name"""


def read_npz(body: bytes, predictor: str | None, read: Callable[[bytes], Arrays], max_rows: int) -> SetQuery:
    """``read`` has the arrays unpacked, as `unpack` does."""
    if predictor is None:
        raise OptionError("With an .npz body, name the predictor as ?predictor=ID.", field="predictor")
    arrays = read(body)
    # The process that unpacked them may have been taken over, so that its word on them is worth nothing.
    for name, check in _checks(max_rows).items():
        if name in arrays:
            check(arrays[name].shape, arrays[name].dtype)
    x, cases, columns = arrays["x"], arrays.get(_CASE), _columns(arrays)
    groups = _decoded(arrays.get(_GROUPS))
    if cases is None:
        return SetQuery(predictor, x, None, None, columns, groups)
    if x.ndim and len(cases) != len(x):
        raise _error(f"has {len(cases):,} entries, and x has {len(x):,} rows: there must be one for each row")
    return SetQuery(predictor, x, None, _names(cases), columns, groups)


def unpack(content: bytes, unpacked_bytes: int, max_rows: int) -> tuple[NDArray[Any], ...]:
    """This runs confined: the arrays that are asked for, behind one with their names, all texts in UTF-8."""
    found = read_arrays(content, ["x"], Limits(unpacked_bytes=unpacked_bytes), optional=_checks(max_rows))
    arrays = {name: _encoded(name, array) for name, array in found.items()}
    return (np.frombuffer(json.dumps(list(arrays)).encode(), dtype=np.uint8), *arrays.values())


def _checks(max_rows: int) -> dict[str, HeaderCheck]:
    """Of arrays beside x, before they are read: a list of names takes many times their size."""

    def check(shape: tuple[int, ...], dtype: "np.dtype[Any]") -> None:
        if dtype.kind not in "USiu" or dtype.itemsize > _LONGEST_BYTES:
            raise _error(f"must hold texts of at most {LONGEST_CASE} characters, or whole numbers, not {dtype}")
        if len(shape) != 1:
            raise _error(f"must have one entry for each row of x, not the shape {shape}")
        if shape[0] > max_rows:
            raise TooLargeError(f"At most {max_rows:,} rows are accepted at once.", field=_CASE)

    def check_groups(shape: tuple[int, ...], dtype: "np.dtype[Any]") -> None:
        if dtype.kind not in "USiufb" or dtype.itemsize > 4 * LONGEST_VALUE:
            raise DataError("The array groups must hold short texts or numbers.", field=_GROUPS)
        if len(shape) not in (1, 2) or shape[0] > max_rows or (len(shape) == 2 and shape[1] > _MOST_CROSSED):
            raise DataError(f"The array groups must have one entry for each row of x, not {shape}.", field=_GROUPS)

    return {_CASE: check, _GROUPS: check_groups, COLUMN_NAMES: _check_columns}


def _encoded(name: str, array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype.kind != "U":
        return array
    try:
        texts = [text.encode() for text in array.reshape(-1).tolist()]
    except (ValueError, SystemError):
        # NumPy's letters may be no letters of Unicode.
        raise DataError(f"The array {name} holds something that is not text.", field=name) from None
    return np.array(texts, dtype="S").reshape(array.shape)


def _check_columns(shape: tuple[int, ...], dtype: "np.dtype[Any]") -> None:
    """Likewise."""
    if dtype.kind not in "US" or len(shape) != 1 or shape[0] * dtype.itemsize > _MOST_BYTES_OF_COLUMNS:
        raise DataError(
            f"The array {COLUMN_NAMES} must name x's columns, in at most {_MOST_BYTES_OF_COLUMNS:,} bytes.",
            field=COLUMN_NAMES,
        )


def _columns(arrays: Arrays) -> list[str] | None:
    if COLUMN_NAMES not in arrays:
        return None
    try:
        found = arrays[COLUMN_NAMES].tolist()
        return [name.decode() if isinstance(name, bytes) else name for name in found]
    except (ValueError, SystemError):
        raise DataError(f"The array {COLUMN_NAMES} holds something that is not text.", field=COLUMN_NAMES) from None


def _decoded(groups: NDArray[Any] | None) -> NDArray[Any] | None:
    """Bytes as the text that they are."""
    if groups is None or groups.dtype.kind != "S":
        return groups
    try:
        return np.char.decode(groups, "utf-8")
    except UnicodeDecodeError:
        raise DataError("The array groups holds bytes that are not UTF-8.", field=_GROUPS) from None


def _names(cases: NDArray[Any]) -> list[str]:
    if cases.dtype.kind in "iu":
        return [str(number) for number in cases.tolist()]
    try:
        found = cases.tolist()
        return [name.decode() for name in found] if cases.dtype.kind == "S" else found
    except (ValueError, SystemError):
        raise _error("holds something that is not text: bytes must be UTF-8") from None


def _error(what: str) -> DataError:
    return DataError(f"The array {_CASE} {what}.", field=_CASE)
