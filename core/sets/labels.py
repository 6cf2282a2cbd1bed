"""Sets of class labels."""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from certiset.core.errors import DataError
from certiset.core.sets.base import Flags, PredictionSets, Reals, set_schema


@dataclass(frozen=True)
class LabelSets(PredictionSets):
    """A batch of label sets. A row without any label is the empty set, and stays one."""

    kind: ClassVar[str] = "labels"
    code: ClassVar[int] = 0
    measure: ClassVar[str] = "labels"
    unit: ClassVar[str] = "labels"
    whole_sizes: ClassVar[bool] = True

    mask: Flags
    """(rows, classes): whether the label is in the row's set"""

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        labels = {"type": "array", "items": {"type": "integer", "minimum": 0}}
        return set_schema(cls.kind, {"type": "integer", "minimum": 0}, labels=labels)

    @classmethod
    def tensors(cls) -> list[tuple[str, str, int]]:
        return [("mask", "BOOL", 2)]

    @classmethod
    def describe(cls, found: Mapping[str, Any]) -> str:
        return "{" + ", ".join(str(label) for label in found["labels"]) + "}"

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Self:
        """With as many classes as the largest label needs: JSON does not say how many there are."""
        mask = np.zeros((1, max(found["labels"], default=-1) + 1), dtype=bool)
        mask[0, list(found["labels"])] = True
        return cls(mask)

    @classmethod
    def includes(cls, found: Mapping[str, Any], y: ArrayLike) -> bool:
        return float(np.asarray(y)) in found["labels"]

    def __getitem__(self, row: int) -> dict[str, Any]:
        labels = np.flatnonzero(self.mask[row]).tolist()
        return {"kind": self.kind, "labels": labels, "size": len(labels)}

    def to_json(self) -> list[dict[str, Any]]:
        # All labels at once, and then each row's: several times as quick as one row after the other.
        labels = np.nonzero(self.mask)[1].tolist()
        ends = np.count_nonzero(self.mask, axis=1).cumsum().tolist()
        return [
            {"kind": self.kind, "labels": labels[start:end], "size": end - start} for start, end in pairwise([0, *ends])
        ]

    @property
    def size(self) -> Reals:
        return self.mask.sum(axis=1).astype(np.float64)

    def contains(self, y: ArrayLike) -> Flags:
        labels = np.asarray(y)
        if labels.shape != (len(self),):
            raise DataError(f"y must hold one label per row, ({len(self)},), not {labels.shape}.", field="y")
        whole = labels.astype(np.int64)
        if np.any(whole != labels) or np.any((whole < 0) | (whole >= self.mask.shape[1])):
            raise DataError(f"labels must be whole numbers from 0 to {self.mask.shape[1] - 1}.", field="y")
        return self.mask[np.arange(len(self)), whole]

    def pack(self) -> list[bytes]:
        count = struct.pack("<I", self.mask.shape[1])
        return [count + row.tobytes() for row in np.packbits(self.mask, axis=1)]

    @classmethod
    def unpack(cls, payload: bytes) -> Self:
        (classes,) = struct.unpack_from("<I", payload)
        bits = np.unpackbits(np.frombuffer(payload, dtype=np.uint8, offset=4), count=classes)
        return cls(bits.astype(bool)[None, :])
