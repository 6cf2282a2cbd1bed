"""Sets of class labels."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.errors import DataError
from core.sets.protocol import Flags, Reals


@dataclass(frozen=True)
class LabelSets:
    """A batch of label sets. A row without any label is the empty set, and stays one."""

    mask: Flags
    """(rows, classes): whether the label is in the row's set"""

    def __len__(self) -> int:
        return len(self.mask)

    def __getitem__(self, row: int) -> dict[str, Any]:
        labels = np.flatnonzero(self.mask[row]).tolist()
        return {"kind": "labels", "labels": labels, "size": len(labels)}

    @property
    def size(self) -> Reals:
        return self.mask.sum(axis=1).astype(np.float64)

    def contains(self, y: ArrayLike) -> Flags:
        labels = np.asarray(y)
        if labels.shape != (len(self),):
            raise DataError(f"y must hold one label a row, ({len(self)},), not {labels.shape}.")
        whole = labels.astype(np.int64)
        if np.any(whole != labels) or np.any((whole < 0) | (whole >= self.mask.shape[1])):
            raise DataError(f"labels must be whole numbers from 0 to {self.mask.shape[1] - 1}.")
        return self.mask[np.arange(len(self)), whole]

    def take(self, rows: NDArray[np.integer[Any]] | slice) -> Self:
        return type(self)(self.mask[rows])

    def to_json(self) -> list[dict[str, Any]]:
        return [self[row] for row in range(len(self))]
