"""Euclidean balls."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from certiset.core.sets.base import END, ENDS, Flags, PredictionSets, Reals, ends, number, numbers, set_schema, shown


@dataclass(frozen=True, repr=False)
class Balls(PredictionSets):
    """A batch of closed balls. Empty where the radius is negative; all of space where it is infinite."""

    kind: ClassVar[str] = "ball"
    code: ClassVar[int] = 2
    measure: ClassVar[str] = "volume"
    unit: ClassVar[str] = "units of volume"

    center: Reals  # (rows, dimensions)
    radius: Reals  # (rows,)

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        return set_schema(cls.kind, END, center=ENDS, radius=END)

    @classmethod
    def tensors(cls) -> list[tuple[str, str, int]]:
        return [("center", "FP64", 2), ("radius", "FP64", 1)]

    @classmethod
    def describe(cls, found: Mapping[str, Any]) -> str:
        if found.get("empty"):
            return "{}"
        radius = "infinite radius" if found["radius"] is None else f"radius {found['radius']:.6g}"
        return f"ball around ({', '.join(shown(value, '?') for value in found['center'])}), {radius}"

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Self:
        radius = -1.0 if found.get("empty") else np.inf if found["radius"] is None else found["radius"]
        return cls(ends(found["center"], np.nan)[None], np.array([radius]))

    def __getitem__(self, row: int) -> dict[str, Any]:
        center, radius = numbers(self.center[row]), self.radius[row]
        answer = {"kind": self.kind, "center": center, "radius": number(radius), "size": number(self.size[row])}
        if radius < 0:
            return answer | {"radius": None, "empty": True}
        return answer if np.isfinite(radius) else answer | {"unbounded": True}

    @property
    def size(self) -> Reals:
        return ball_volume(np.maximum(self.radius, 0.0), self.center.shape[1])

    def contains(self, y: ArrayLike) -> Flags:
        values = np.asarray(y, dtype=np.float64).reshape(self.center.shape)
        away = np.abs(values - self.center.astype(np.float64))
        # In a unit near the largest side, so that no square over- or underflows.
        exponent = np.frexp(away.max(axis=1, initial=0.0))[1]
        with np.errstate(over="ignore"):
            return np.linalg.norm(np.ldexp(away, -exponent[:, None]), axis=1) <= np.ldexp(self.radius, -exponent)

    def pack(self) -> list[bytes]:
        return [row.tobytes() for row in np.concatenate([self.center, self.radius[:, None]], axis=1).astype("<f8")]

    @classmethod
    def unpack(cls, payload: bytes) -> Self:
        values = np.frombuffer(payload, dtype="<f8")[None, :]
        return cls(values[:, :-1], values[:, -1])


def ball_volume(radius: Reals, dimensions: int) -> Reals:
    """pi^(d/2) / Gamma(d/2 + 1) r^d: length for d = 1, area for d = 2."""
    return unit_ball_volume(dimensions) * radius**dimensions


def unit_ball_volume(dimensions: int) -> float:
    return math.pi ** (dimensions / 2) / math.gamma(dimensions / 2 + 1)
