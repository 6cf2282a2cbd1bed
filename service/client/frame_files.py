"""Data frames as .npz files that keep the names of their columns, their text and what is missing in them."""

import io
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import ArrayLike, NDArray

from certiset.core.data.frame import COLUMN_NAMES, Frame, TextColumn, as_frame
from certiset.core.data_frames import nearest
from certiset.core.errors import DataError

_MOST_TEXT = 2**28
"""bytes of one column of text, all of whose cells take as much as the longest"""


def frame_file(x: Any, y: ArrayLike | None, target: str | None) -> bytes:
    """An .npz file of a data frame; without y, the target names columns of the frame, and None means no truths."""
    frame = as_frame(x)
    truths: dict[str, NDArray[Any]] = {}
    if target is not None:
        if y is None:
            frame, y = _apart(frame, target)
        truths[target] = np.asarray(y)
    assert frame.names is not None
    if not frame.names:
        raise DataError("x has no column of numbers.", field="x")
    arrays = {"x": np.asarray(frame.x), COLUMN_NAMES: np.array(frame.names), **truths}
    for name, column in frame.further.items():
        assert isinstance(column, TextColumn)
        if name in arrays:
            raise DataError(f"A column of text cannot be named {name!r} here: give it another name.", field="x")
        arrays[name] = _texts(name, column)
    return _written(arrays)


def _apart(frame: Frame, target: str) -> tuple[Frame, NDArray[Any]]:
    """Inputs and targets of a frame that holds both."""
    assert frame.names is not None
    known = [*frame.names, *frame.further]
    wanted = [target] if target in known else [part.strip() for part in target.split(",")]
    for name in wanted:
        if name not in known:
            raise DataError(f"There is no column {name!r} for the target{nearest(name, known)}.", field="target")
        if name in frame.further:
            raise DataError(f"The target {name!r} holds text, not numbers.", field="target")
    x, names = np.asarray(frame.x), [name for name in frame.names if name not in wanted]
    y = x[:, [frame.names.index(name) for name in wanted]]
    inputs = x[:, [frame.names.index(name) for name in names]]
    return Frame(inputs, names, frame.further), y[:, 0] if len(wanted) == 1 else y


def _texts(name: str, column: TextColumn) -> NDArray[np.str_]:
    """The empty text for what is missing."""
    values = np.array([*column.values, ""])
    if values.itemsize * len(column.codes) > _MOST_TEXT:
        raise DataError(f"The column {name!r} has texts that are too long: leave it out, or upload a file.", field="x")
    return values[column.codes]


def _written(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Like numpy.savez, which takes some names for its own arguments. Bytes depend on nothing but the arrays."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, array in arrays.items():
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as entry:
                npy.write_array(entry, array, allow_pickle=False)
    return stream.getvalue()
