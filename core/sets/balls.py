"""Euclidean balls."""

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.sets.protocol import Flags, Reals, number, numbers


@dataclass(frozen=True)
class Balls:
    """A batch of closed balls. Empty where the radius is negative; all of space where it is infinite."""

    center: Reals  # (rows, dimensions)
    radius: Reals  # (rows,)

    def __len__(self) -> int:
        return len(self.radius)

    def __getitem__(self, row: int) -> dict[str, Any]:
        center, radius = numbers(self.center[row]), self.radius[row]
        answer = {"kind": "ball", "center": center, "radius": number(radius), "size": number(self.size[row])}
        if radius < 0:
            return answer | {"radius": None, "empty": True}
        return answer if np.isfinite(radius) else answer | {"unbounded": True}

    @property
    def size(self) -> Reals:
        return ball_volume(np.maximum(self.radius, 0.0), self.center.shape[1])

    def contains(self, y: ArrayLike) -> Flags:
        distance = np.linalg.norm(np.asarray(y).reshape(self.center.shape) - self.center, axis=1)
        return distance <= self.radius

    def take(self, rows: NDArray[np.integer[Any]] | slice) -> Self:
        return type(self)(self.center[rows], self.radius[rows])

    def to_json(self) -> list[dict[str, Any]]:
        return [self[row] for row in range(len(self))]


def ball_volume(radius: Reals, dimensions: int) -> Reals:
    """pi^(d/2) / Gamma(d/2 + 1) r^d: length for d = 1, area for d = 2."""
    return unit_ball_volume(dimensions) * radius**dimensions


def unit_ball_volume(dimensions: int) -> float:
    return math.pi ** (dimensions / 2) / math.gamma(dimensions / 2 + 1)
