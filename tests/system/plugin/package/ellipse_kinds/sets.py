"""Ellipses in the plane whose axes are those of the coordinates."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from certiset.core.sets.base import END, ENDS, Flags, PredictionSets, Reals, number, numbers, set_schema


@dataclass(frozen=True)
class Ellipses(PredictionSets):
    kind: ClassVar[str] = "ellipse"
    code: ClassVar[int] = 64
    measure: ClassVar[str] = "volume"
    unit: ClassVar[str] = "units of area"

    center: Reals  # (rows, 2)
    radii: Reals  # (rows, 2); negative for the empty set

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        return set_schema(cls.kind, END, center=ENDS, radii=ENDS)

    @classmethod
    def tensors(cls) -> list[tuple[str, str, int]]:
        return [("center", "FP64", 2), ("radii", "FP64", 2)]

    @classmethod
    def describe(cls, found: Mapping[str, Any]) -> str:
        return f"ellipse around {tuple(found['center'])} with radii {tuple(found['radii'])}"

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Self:
        return cls(np.array([found["center"]]), np.array([found["radii"]]))

    def __getitem__(self, row: int) -> dict[str, Any]:
        center, radii = numbers(self.center[row]), numbers(self.radii[row])
        return {"kind": self.kind, "center": center, "radii": radii, "size": number(self.size[row])}

    @property
    def size(self) -> Reals:
        return np.pi * np.maximum(self.radii, 0.0).prod(axis=1)

    def contains(self, y: ArrayLike) -> Flags:
        distance = (np.asarray(y).reshape(self.center.shape) - self.center) / self.radii
        return (self.radii > 0).all(axis=1) & ((distance**2).sum(axis=1) <= 1)

    def pack(self) -> list[bytes]:
        return [row.tobytes() for row in np.concatenate([self.center, self.radii], axis=1).astype("<f8")]

    @classmethod
    def unpack(cls, payload: bytes) -> Self:
        values = np.frombuffer(payload, dtype="<f8")[None, :]
        return cls(values[:, :2], values[:, 2:])
