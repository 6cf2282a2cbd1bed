"""Checked rows, with what is known of their columns, and their storage as a safetensors file.

Arrays are stored as x and y, inputs without truths as x alone. A table has, beside them: ``columns``, a JSON text with
the names and what each column holds; ``numbers``, further columns of numbers; ``codes`` and ``values``, columns of
text. Files of earlier versions have x and y alone, and are tables without names.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certiset.core.class_names import NamedTruths
from certiset.core.data.arrays import check_dataset, check_unlabelled
from certiset.core.data.frame import Column, Frame, TextColumn, as_frame
from certiset.core.errors import DamagedFileError, DataError

YKind: TypeAlias = Literal["labels", "numbers", "vectors", "none"]
Tensors: TypeAlias = Mapping[str, NDArray[Any]]

_MOST_DISTINCT = 1000
"""up to which distinct values are counted"""


@dataclass(frozen=True)
class DatasetArrays:
    x: NDArray[Any]
    """(rows, ...); where its columns have names, NaN is for numbers that are missing"""
    y: NDArray[Any]
    """(rows,), or (rows, targets); (rows, 0) for inputs without truths"""
    names: list[str] | None = None
    """of the columns of x"""
    further: Mapping[str, Column] = field(default_factory=dict)
    """columns that are no inputs by themselves"""
    y_names: tuple[str, ...] | None = None
    """of the classes, where the truths were names: y holds their places"""

    @classmethod
    def checked(cls, x: ArrayLike | Frame, y: "ArrayLike | NamedTruths | None") -> "DatasetArrays":
        """Numbers, finite (in tables also missing), at least two rows, one target per row or none at all."""
        frame = as_frame(x)
        tabular = frame.names is not None
        if y is None:
            inputs = check_unlabelled(frame.x, allow_missing=tabular)
            targets = no_truths(len(inputs))
        else:
            codes = y.codes if isinstance(y, NamedTruths) else y
            inputs, targets = check_dataset(frame.x, codes, allow_missing=tabular)
        for name, column in frame.further.items():
            rows = len(column.codes if isinstance(column, TextColumn) else column)
            if rows != len(inputs):
                raise DataError(f"Column {name!r} has {rows} entries for {len(inputs)} rows.")
        names = y.names if isinstance(y, NamedTruths) else None
        return cls(inputs, targets, frame.names, frame.further, names)

    @property
    def frame(self) -> Frame:
        """The rows without their truths, for a fit."""
        return Frame(self.x, self.names, self.further)

    @property
    def truths(self) -> "NDArray[Any] | NamedTruths":
        """y, for whoever cannot do without."""
        if self.y_kind == "none":
            raise DataError(
                "The dataset has no truths, and a calibration needs one for each row: upload the file with its target. "
                "Inputs without truths certify the sizes of a predictor's sets."
            )
        return self.y if self.y_names is None else NamedTruths(self.y, self.y_names)

    @property
    def y_kind(self) -> YKind:
        """labels: whole numbers from 0 on, which may be classes."""
        if self.y.ndim == 2 and self.y.shape[1] == 0:
            return "none"
        if self.y.ndim == 2:
            return "vectors"
        whole = self.y.dtype.kind == "i" or bool(np.all(self.y == np.floor(self.y)))
        return "labels" if whole and self.y.min() >= 0 else "numbers"

    def tensors(self) -> dict[str, NDArray[Any]]:
        """As they are stored."""
        truths = {} if self.y_kind == "none" else truth_tensors(self.truths)
        return {**frame_tensors(self.frame), **truths}

    def to_bytes(self) -> bytes:
        from safetensors.numpy import save  # noqa: PLC0415 (not needed where only formats are asked for)

        return save({name: np.ascontiguousarray(tensor) for name, tensor in self.tensors().items()})

    @classmethod
    def from_bytes(cls, content: bytes) -> "DatasetArrays":
        from safetensors import SafetensorError  # noqa: PLC0415
        from safetensors.numpy import load  # noqa: PLC0415

        try:
            return cls.from_tensors(load(content))
        except SafetensorError as error:
            raise DamagedFileError(f"The stored dataset is damaged: {error}.") from None

    @classmethod
    def from_tensors(cls, tensors: Tensors) -> "DatasetArrays":
        try:
            frame = tensors_frame(tensors)
            y = tensors_truths(tensors)
            names = y.names if isinstance(y, NamedTruths) else None
            numbers = y.codes if isinstance(y, NamedTruths) else no_truths(len(tensors["x"])) if y is None else y
            return cls(frame.x, numbers, frame.names, frame.further, names)  # type: ignore[arg-type]
        except (KeyError, ValueError, TypeError, IndexError) as error:
            raise DamagedFileError(f"The stored dataset is damaged: {error}.") from None


def no_truths(rows: int) -> NDArray[Any]:
    """What stands for y where there is none."""
    return np.empty((rows, 0))


def truth_tensors(y: "NDArray[Any] | NamedTruths | None") -> dict[str, NDArray[Any]]:
    """Truths as arrays that can be stored: names as their places, beside the names."""
    if y is None:
        return {}
    return {"y": y.codes, "y_names": _text_array(list(y.names))} if isinstance(y, NamedTruths) else {"y": y}


def tensors_truths(tensors: Tensors) -> "NDArray[Any] | NamedTruths | None":
    """What `truth_tensors` made arrays of; what does not fit together is a `ValueError`."""
    if "y" not in tensors or "y_names" not in tensors:
        return tensors.get("y")
    codes, names = tensors["y"], json.loads(tensors["y_names"].tobytes())
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names) or codes.dtype.kind != "i":
        raise ValueError("the names of its classes are none")
    if codes.size and not 0 <= codes.min() <= codes.max() < len(names):
        raise ValueError("its truths are none of its classes")
    return NamedTruths(codes, tuple(names))


def frame_tensors(frame: Frame) -> dict[str, NDArray[Any]]:
    """A frame as arrays that can be stored, or sent to another process."""
    x = np.asarray(frame.x)
    if frame.names is None and not frame.further:
        return {"x": x}
    texts = {name: column for name, column in frame.further.items() if isinstance(column, TextColumn)}
    numbers = {name: column for name, column in frame.further.items() if not isinstance(column, TextColumn)}
    described = {
        "names": frame.names,
        "numbers": list(numbers),
        "texts": list(texts),
        "columns": [
            *({"name": name, **_of_numbers(x[:, place])} for place, name in enumerate(frame.names or [])),
            *({"name": name, **_of_numbers(column)} for name, column in numbers.items()),
            *({"name": name, **_of_text(column)} for name, column in texts.items()),
        ],
    }
    tensors = {"x": x, "columns": _text_array(described)}
    if numbers:
        tensors["numbers"] = np.column_stack([column.astype(np.float64) for column in numbers.values()])
    if texts:
        tensors["codes"] = np.column_stack([column.codes for column in texts.values()])
        tensors["values"] = _text_array([column.values for column in texts.values()])
    return tensors


def tensors_frame(tensors: Tensors) -> Frame:
    """The frame that `frame_tensors` made arrays of."""
    if "columns" not in tensors:
        return Frame(tensors["x"])
    described = json.loads(tensors["columns"].tobytes())
    further: dict[str, Column] = {name: tensors["numbers"][:, place] for place, name in enumerate(described["numbers"])}
    if described["texts"]:
        values = json.loads(tensors["values"].tobytes())
        for place, name in enumerate(described["texts"]):
            further[name] = TextColumn(tensors["codes"][:, place], values[place])
    return Frame(tensors["x"], described["names"], further)


def _of_numbers(column: NDArray[Any]) -> dict[str, Any]:
    missing = int(np.isnan(column).sum()) if column.dtype.kind == "f" else 0
    present = column[~np.isnan(column)] if missing else column
    distinct = len(np.unique(present[: 10 * _MOST_DISTINCT]))
    if distinct < _MOST_DISTINCT:
        distinct = len(np.unique(present))
    return {"kind": "number", "missing": missing, "distinct": min(distinct, _MOST_DISTINCT)}


def _of_text(column: TextColumn) -> dict[str, Any]:
    missing = int((column.codes < 0).sum())
    return {"kind": "text", "missing": missing, "distinct": min(len(column.values), _MOST_DISTINCT)}


def _text_array(value: Any) -> NDArray[np.uint8]:
    return np.frombuffer(json.dumps(value).encode(), dtype=np.uint8)
