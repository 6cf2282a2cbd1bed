"""Weights of a few kilobytes without any library: a safetensors file is a short JSON text, and numbers behind it.

Whatever is not exactly that is left to a confined process, which says what is wrong.
"""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_BYTES = 2**16
_DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1", "U8": "|u1"}


def plain_weights(file: Path) -> dict[str, NDArray[Any]] | None:
    """The arrays by their names; None if the file is larger than this, or anything about it is unusual."""
    if file.stat().st_size > MOST_BYTES:
        return None
    content = file.read_bytes()
    start = 8 + int.from_bytes(content[:8], "little")
    if start > len(content):
        return None
    try:
        header = json.loads(content[8:start])
        if not all(isinstance(word, str) for word in header.pop("__metadata__", {}).values()):
            return None
        return _arrays(header, content[start:])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _arrays(header: Mapping[str, Any], content: bytes) -> dict[str, NDArray[Any]]:
    """A `ValueError` unless the arrays are all of the content, one after the other."""
    found: dict[str, NDArray[Any]] = {}
    reached = 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        dtype, shape, (first, last) = np.dtype(_DTYPES[entry["dtype"]]), entry["shape"], entry["data_offsets"]
        if any(type(number) is not int or number < 0 for number in (*shape, first, last)):
            raise ValueError("a side or a place is no whole number")
        if first != reached or last - first != dtype.itemsize * math.prod(shape) or last > len(content):
            raise ValueError("a place is not where it should be")
        found[name] = np.frombuffer(content[first:last], dtype).reshape(shape).copy()
        reached = last
    if reached != len(content):
        raise ValueError("something follows")
    return found
