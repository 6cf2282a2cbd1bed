"""Rows of a stored dataset, without reading the rest of its file, or all of them without taking memory."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certiset.core.data.dataset import DatasetArrays, no_truths
from certiset.core.data.frame import Column, TextColumn
from certiset.core.errors import DamagedFileError

_DTYPES = {
    "BOOL": "?",
    "U8": "u1",
    "I8": "i1",
    "U16": "<u2",
    "I16": "<i2",
    "U32": "<u4",
    "I32": "<i4",
    "U64": "<u8",
    "I64": "<i8",
    "F16": "<f2",
    "F32": "<f4",
    "F64": "<f8",
}
_LONGEST_HEADER = 2**20
_LONGEST_TEXTS = 2**22
"""bytes of all different texts, up to which columns of text are looked at"""


def read_rows(
    read: Callable[[int, int], bytes], start: int, count: int, *, most_numbers: int | None = None
) -> tuple[NDArray[Any], NDArray[Any]]:
    """x and y from row ``start`` on, counted from 0: ``count`` rows, or as many as make ``most_numbers``.

    ``read(first, last)`` gives the bytes of a range of the file. The tensors of a safetensors file lie row after row
    behind a header that says where, so that rows are ranges. The file's hash is not checked, which would need all of
    it: for looking at, not for fitting.
    """
    try:
        header, offset = _header(read)
        if most_numbers is not None:
            width = math.prod(header["x"]["shape"][1:])
            count = min(count, max(1, most_numbers // max(1, width)))
        x = _rows(read, header["x"], offset, start, count)
        return x, _rows(read, header["y"], offset, start, count) if "y" in header else no_truths(len(x))
    except (ValueError, KeyError, TypeError) as error:
        raise DamagedFileError(f"The stored dataset is damaged: {error}.") from None


def read_columns(read: Callable[[int, int], bytes]) -> dict[str, Any] | None:
    """What is known of the columns: ``names`` of those of x, and all ``columns``; None for arrays without any."""
    try:
        header, offset = _header(read)
        if "columns" not in header:
            return None
        found: dict[str, Any] = _json(read, header["columns"], offset)
        return found
    except (ValueError, KeyError, TypeError) as error:
        raise DamagedFileError(f"The stored dataset is damaged: {error}.") from None


def read_further(read: Callable[[int, int], bytes], start: int, count: int) -> dict[str, Column]:
    """The same rows of the columns that are no inputs by themselves: numbers beside x, and text.

    Text that has too many different values to be looked at is left out.
    """
    described = read_columns(read)
    if described is None:
        return {}
    try:
        header, offset = _header(read)
        found: dict[str, Column] = {}
        if described["numbers"]:
            numbers = _rows(read, header["numbers"], offset, start, count)
            found |= {name: numbers[:, place] for place, name in enumerate(described["numbers"])}
        if described["texts"] and _bytes(header["values"]) <= _LONGEST_TEXTS:
            codes, values = _rows(read, header["codes"], offset, start, count), _json(read, header["values"], offset)
            found |= {name: TextColumn(codes[:, n], values[n]) for n, name in enumerate(described["texts"])}
        return found
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise DamagedFileError(f"The stored dataset is damaged: {error}.") from None


def read_class_names(read: Callable[[int, int], bytes]) -> list[str] | None:
    """Of the truths, where those were names: y holds their places."""
    try:
        header, offset = _header(read)
        return _json(read, header["y_names"], offset) if "y_names" in header else None
    except (ValueError, KeyError, TypeError) as error:
        raise DamagedFileError(f"The stored dataset is damaged: {error}.") from None


def map_dataset(file: Path) -> DatasetArrays:
    """All of it, as views of the file: the system reads what is looked at, and may forget it again."""

    def read(first: int, last: int) -> bytes:
        with file.open("rb") as stream:
            stream.seek(first)
            return stream.read(last - first)

    def view(entry: Any) -> NDArray[Any]:
        begin = offset + entry["data_offsets"][0]
        return np.memmap(file, np.dtype(_DTYPES[entry["dtype"]]), "r", begin, tuple(entry["shape"]))

    try:
        header, offset = _header(read)
        return DatasetArrays.from_tensors(
            {name: view(entry) for name, entry in header.items() if name != "__metadata__"}
        )
    except (ValueError, KeyError, TypeError) as error:
        raise DamagedFileError(f"The stored dataset is damaged: {error}.") from None


def _header(read: Callable[[int, int], bytes]) -> tuple[dict[str, Any], int]:
    """What the file says of its tensors, and where they begin."""
    length = int.from_bytes(read(0, 8), "little")
    if length > _LONGEST_HEADER:
        raise ValueError("its header is too long")
    return json.loads(read(8, 8 + length)), 8 + length


def _bytes(entry: Any) -> int:
    first, last = entry["data_offsets"]
    return int(last - first)


def _json(read: Callable[[int, int], bytes], entry: Any, offset: int) -> Any:
    first, last = entry["data_offsets"]
    return json.loads(read(offset + first, offset + last))


def _rows(read: Callable[[int, int], bytes], entry: Any, offset: int, start: int, count: int) -> NDArray[Any]:
    dtype, shape = np.dtype(_DTYPES[entry["dtype"]]), entry["shape"]
    stop = min(shape[0], start + count)
    start = min(start, stop)
    row_bytes = dtype.itemsize * math.prod(shape[1:])
    begin = offset + entry["data_offsets"][0]
    content = read(begin + row_bytes * start, begin + row_bytes * stop) if stop > start else b""
    return np.frombuffer(content, dtype=dtype).reshape(stop - start, *shape[1:])
