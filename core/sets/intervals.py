"""Intervals of the real line."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.sets.protocol import Flags, Reals, number


@dataclass(frozen=True)
class Intervals:
    """A batch of closed intervals. Empty where lower > upper; without bound where an end is infinite."""

    lower: Reals  # (rows,)
    upper: Reals  # (rows,)

    def __len__(self) -> int:
        return len(self.lower)

    def __getitem__(self, row: int) -> dict[str, Any]:
        lower, upper = self.lower[row], self.upper[row]
        if lower > upper:
            return {"kind": "interval", "lower": None, "upper": None, "size": 0.0, "empty": True}
        answer = {"kind": "interval", "lower": number(lower), "upper": number(upper), "size": number(upper - lower)}
        return answer if np.isfinite(upper - lower) else answer | {"unbounded": True}

    @property
    def size(self) -> Reals:
        return np.where(self.lower > self.upper, 0.0, self.upper - self.lower)

    def contains(self, y: ArrayLike) -> Flags:
        values = np.asarray(y).reshape(len(self))
        return (self.lower <= values) & (values <= self.upper)

    def take(self, rows: NDArray[np.integer[Any]] | slice) -> Self:
        return type(self)(self.lower[rows], self.upper[rows])

    def to_json(self) -> list[dict[str, Any]]:
        return [self[row] for row in range(len(self))]
