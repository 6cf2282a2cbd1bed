"""Axis-parallel boxes."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.sets.protocol import Flags, Reals, number, numbers


@dataclass(frozen=True)
class Boxes:
    """A batch of closed boxes. Empty where lower > upper in any dimension; without bound where an end is infinite."""

    lower: Reals  # (rows, dimensions)
    upper: Reals  # (rows, dimensions)

    def __len__(self) -> int:
        return len(self.lower)

    def __getitem__(self, row: int) -> dict[str, Any]:
        lower, upper = self.lower[row], self.upper[row]
        if np.any(lower > upper):
            return {"kind": "box", "lower": None, "upper": None, "size": 0.0, "empty": True}
        size = number(self.size[row])
        answer = {"kind": "box", "lower": numbers(lower), "upper": numbers(upper), "size": size}
        return answer if np.all(np.isfinite(upper - lower)) else answer | {"unbounded": True}

    @property
    def size(self) -> Reals:
        sides = np.maximum(self.upper - self.lower, 0.0)
        # Flat in one direction and without bound in another: no volume.
        return np.where((sides == 0).any(axis=1), 0.0, np.prod(np.where(sides == 0, 1.0, sides), axis=1))

    def contains(self, y: ArrayLike) -> Flags:
        values = np.asarray(y).reshape(self.lower.shape)
        return np.all((self.lower <= values) & (values <= self.upper), axis=1)

    def take(self, rows: NDArray[np.integer[Any]] | slice) -> Self:
        return type(self)(self.lower[rows], self.upper[rows])

    def to_json(self) -> list[dict[str, Any]]:
        return [self[row] for row in range(len(self))]
