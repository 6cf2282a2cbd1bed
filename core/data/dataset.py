"""Checked arrays x and y, and their storage as a safetensors file."""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certiset.core.data.arrays import check_dataset
from certiset.core.errors import DamagedFileError

YKind: TypeAlias = Literal["labels", "numbers", "vectors"]


@dataclass(frozen=True)
class DatasetArrays:
    x: NDArray[Any]
    """(rows, ...)"""
    y: NDArray[Any]
    """(rows,), or (rows, targets)"""

    @classmethod
    def checked(cls, x: ArrayLike, y: ArrayLike) -> "DatasetArrays":
        """Numbers, finite, at least two rows, one target per row."""
        return cls(*check_dataset(x, y))

    @property
    def y_kind(self) -> YKind:
        """labels: whole numbers from 0 on, which may be classes."""
        if self.y.ndim == 2:
            return "vectors"
        whole = self.y.dtype.kind == "i" or bool(np.all(self.y == np.floor(self.y)))
        return "labels" if whole and self.y.min() >= 0 else "numbers"

    def to_bytes(self) -> bytes:
        from safetensors.numpy import save  # noqa: PLC0415 (a client, which only wants to know formats, lacks it)

        return save({"x": np.ascontiguousarray(self.x), "y": np.ascontiguousarray(self.y)})

    @classmethod
    def from_bytes(cls, content: bytes) -> "DatasetArrays":
        from safetensors import SafetensorError  # noqa: PLC0415
        from safetensors.numpy import load  # noqa: PLC0415

        try:
            arrays = load(content)
            return cls(arrays["x"], arrays["y"])
        except (SafetensorError, KeyError) as error:
            raise DamagedFileError(f"The stored dataset is damaged: {error}.") from None
