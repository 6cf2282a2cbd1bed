"""Axis-parallel boxes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from certiset.core.sets.base import END, ENDS, Flags, PredictionSets, Reals, ends, number, numbers, set_schema, shown


@dataclass(frozen=True, repr=False)
class Boxes(PredictionSets):
    """A batch of closed boxes. Empty where lower > upper in any dimension; unbounded where an end is infinite."""

    kind: ClassVar[str] = "box"
    code: ClassVar[int] = 3
    measure: ClassVar[str] = "volume"
    unit: ClassVar[str] = "units of volume"

    lower: Reals  # (rows, dimensions)
    upper: Reals  # (rows, dimensions)

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        return set_schema(cls.kind, END, lower=ENDS, upper=ENDS)

    @classmethod
    def tensors(cls) -> list[tuple[str, str, int]]:
        return [("lower", "FP64", 2), ("upper", "FP64", 2)]

    @classmethod
    def describe(cls, found: Mapping[str, Any]) -> str:
        if found.get("empty"):
            return "{}"
        pairs = zip(found["lower"], found["upper"], strict=True)
        return " x ".join(f"[{shown(low, '-inf')}, {shown(high, 'inf')}]" for low, high in pairs)

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Self:
        if found.get("empty"):
            return cls(np.array([[np.inf]]), np.array([[-np.inf]]))
        return cls(ends(found["lower"], -np.inf)[None], ends(found["upper"], np.inf)[None])

    def __getitem__(self, row: int) -> dict[str, Any]:
        lower, upper = self.lower[row], self.upper[row]
        if np.any(lower > upper):
            return {"kind": self.kind, "lower": None, "upper": None, "size": 0.0, "empty": True}
        size = number(self.size[row])
        answer = {"kind": self.kind, "lower": numbers(lower), "upper": numbers(upper), "size": size}
        return answer if np.all(np.isfinite(upper - lower)) else answer | {"unbounded": True}

    @property
    def size(self) -> Reals:
        sides = np.maximum(self.upper - self.lower, 0.0)
        # Flat in one direction and unbounded in another: no volume.
        return np.where((sides == 0).any(axis=1), 0.0, np.prod(np.where(sides == 0, 1.0, sides), axis=1))

    def contains(self, y: ArrayLike) -> Flags:
        values = np.asarray(y, dtype=np.float64).reshape(self.lower.shape)
        return np.all((self.lower <= values) & (values <= self.upper), axis=1)

    def pack(self) -> list[bytes]:
        return [row.tobytes() for row in np.concatenate([self.lower, self.upper], axis=1).astype("<f8")]

    @classmethod
    def unpack(cls, payload: bytes) -> Self:
        values = np.frombuffer(payload, dtype="<f8")[None, :]
        half = values.shape[1] // 2
        return cls(values[:, :half], values[:, half:])
