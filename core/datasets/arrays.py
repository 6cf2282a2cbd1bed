"""Checked arrays x and y, and their storage as a safetensors file."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from core.errors import DamagedFileError, DataError

_ROWS_AT_ONCE = 65_536


@dataclass(frozen=True)
class DatasetArrays:
    x: NDArray[Any]
    """(rows, ...)"""
    y: NDArray[Any]
    """(rows,), or (rows, targets)"""

    @classmethod
    def checked(cls, x: NDArray[Any], y: NDArray[Any]) -> "DatasetArrays":
        """Numbers, finite, at least two rows, one target a row."""
        inputs, targets = _plain("x", x), _plain("y", y)
        if len(inputs) != len(targets):
            raise DataError(f"x has {len(inputs)} rows and y has {len(targets)}: one target a row is needed.")
        if len(inputs) < 2:
            raise DataError(f"There are {len(inputs)} rows of data, and at least two are needed.")
        if inputs.size == 0:
            raise DataError("x has no columns.")
        if targets.ndim == 2 and targets.shape[1] == 1:
            targets = targets[:, 0]
        if targets.ndim > 2 or targets.size == 0:
            raise DataError(
                f"y must hold one number a row, or one vector a row, not rows of shape {targets.shape[1:]}."
            )
        _finite("x", inputs)
        _finite("y", targets)
        if targets.dtype.kind in "bu":
            targets = targets.astype(np.int64) if targets.itemsize < 8 else _int64(targets)
        return cls(inputs, targets)

    @property
    def y_kind(self) -> Literal["labels", "numbers", "vectors"]:
        """labels: whole numbers from 0 on, which may be classes."""
        if self.y.ndim == 2:
            return "vectors"
        whole = self.y.dtype.kind == "i" or bool(np.all(self.y == np.floor(self.y)))
        return "labels" if whole and self.y.min() >= 0 else "numbers"

    def to_bytes(self) -> bytes:
        return save({"x": np.ascontiguousarray(self.x), "y": np.ascontiguousarray(self.y)})

    @classmethod
    def from_bytes(cls, content: bytes) -> "DatasetArrays":
        try:
            arrays = load(content)
            return cls(arrays["x"], arrays["y"])
        except (SafetensorError, KeyError) as error:
            raise DamagedFileError(f"The stored dataset is damaged: {error}.") from None


def _plain(name: str, array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype.kind not in "biuf":
        raise DataError(f"{name} must hold numbers, not {array.dtype}.")
    if array.ndim == 0:
        raise DataError(f"{name} must hold one row for each point, not a single number.")
    plain = array.dtype.newbyteorder("=")
    return array.astype(np.float64 if plain.itemsize > 8 else plain, copy=False)


def _int64(targets: NDArray[Any]) -> NDArray[np.int64]:
    if targets.max() > np.iinfo(np.int64).max:
        raise DataError(f"y holds {targets.max()}, which is too large.")
    return targets.astype(np.int64)


def _finite(name: str, array: NDArray[Any]) -> None:
    if array.dtype.kind != "f":
        return
    for start in range(0, len(array), _ROWS_AT_ONCE):
        bad = ~np.isfinite(array[start : start + _ROWS_AT_ONCE])
        if bad.any():
            place = np.argwhere(bad)[0]
            row = start + int(place[0])
            column = f", column {', '.join(str(p + 1) for p in place[1:])}" if len(place) > 1 else ""
            raise DataError(f"{name} must be finite, and row {row + 1}{column} is {array[(row, *place[1:])]}.")
