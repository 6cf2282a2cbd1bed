"""Intervals of the real line."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from certiset.core.sets.base import END, Flags, PredictionSets, Reals, ends, number, set_schema, shown


@dataclass(frozen=True, repr=False)
class Intervals(PredictionSets):
    """A batch of closed intervals. Empty where lower > upper; unbounded where an end is infinite."""

    kind: ClassVar[str] = "interval"
    code: ClassVar[int] = 1
    measure: ClassVar[str] = "width"
    unit: ClassVar[str] = "units of width"

    lower: Reals  # (rows,)
    upper: Reals  # (rows,)

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        return set_schema(cls.kind, END, lower=END, upper=END)

    @classmethod
    def tensors(cls) -> list[tuple[str, str, int]]:
        return [("lower", "FP64", 1), ("upper", "FP64", 1)]

    @classmethod
    def describe(cls, found: Mapping[str, Any]) -> str:
        if found.get("empty"):
            return "{}"
        return f"[{shown(found['lower'], '-inf')}, {shown(found['upper'], 'inf')}]"

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Self:
        if found.get("empty"):
            return cls(np.array([np.inf]), np.array([-np.inf]))
        return cls(ends(found["lower"], -np.inf), ends(found["upper"], np.inf))

    def __getitem__(self, row: int) -> dict[str, Any]:
        lower, upper = self.lower[row], self.upper[row]
        if lower > upper:
            return {"kind": self.kind, "lower": None, "upper": None, "size": 0.0, "empty": True}
        answer = {"kind": self.kind, "lower": number(lower), "upper": number(upper), "size": number(upper - lower)}
        return answer if np.isfinite(upper - lower) else answer | {"unbounded": True}

    @property
    def size(self) -> Reals:
        return np.where(self.lower > self.upper, 0.0, self.upper - self.lower)

    def contains(self, y: ArrayLike) -> Flags:
        values = np.asarray(y, dtype=np.float64).reshape(len(self))
        return (self.lower <= values) & (values <= self.upper)

    def pack(self) -> list[bytes]:
        return [row.tobytes() for row in np.stack([self.lower, self.upper], axis=1).astype("<f8")]

    @classmethod
    def unpack(cls, payload: bytes) -> Self:
        lower, upper = np.frombuffer(payload, dtype="<f8")
        return cls(np.array([lower]), np.array([upper]))

    def band(self) -> tuple[Reals, Reals]:
        return self.lower, self.upper
