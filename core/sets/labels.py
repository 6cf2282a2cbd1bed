"""Sets of class labels."""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certiset.core.class_names import codes_of
from certiset.core.drawing import Drawing
from certiset.core.errors import DataError
from certiset.core.sets import figures
from certiset.core.sets.base import Flags, PredictionSets, Ragged, Reals, set_schema


@dataclass(frozen=True, repr=False)
class LabelSets(PredictionSets):
    """A batch of label sets. A row without any label is the empty set, and stays one."""

    kind: ClassVar[str] = "labels"
    code: ClassVar[int] = 0
    measure: ClassVar[str] = "labels"
    unit: ClassVar[str] = "labels"
    whole_sizes: ClassVar[bool] = True

    mask: Flags
    """(rows, classes): whether the label is in the row's set"""
    names: tuple[str, ...] | None = None
    """of the classes, where they have some; the same for all rows, and no column"""

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        labels = {"type": "array", "items": {"type": "integer", "minimum": 0}}
        schema = set_schema(cls.kind, {"type": "integer", "minimum": 0}, labels=labels)
        schema["properties"]["names"] = {"type": "array", "items": {"type": "string"}}
        return schema

    @classmethod
    def tensors(cls) -> list[tuple[str, str, int]]:
        return [("mask", "BOOL", 2)]

    @classmethod
    def describe(cls, found: Mapping[str, Any]) -> str:
        return "{" + ", ".join(str(label) for label in found.get("names", found["labels"])) + "}"

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Self:
        """With as many classes as the largest label needs: JSON does not say how many there are."""
        mask = np.zeros((1, max(found["labels"], default=-1) + 1), dtype=bool)
        mask[0, list(found["labels"])] = True
        return cls(mask)

    @classmethod
    def includes(cls, found: Mapping[str, Any], y: ArrayLike) -> bool:
        return y in found.get("names", ()) if isinstance(y, str) else float(np.asarray(y)) in found["labels"]

    @classmethod
    def column_names(cls) -> list[str]:
        return ["mask"]

    def columns(self) -> dict[str, NDArray[Any]]:
        return {"mask": self.mask}

    def with_names(self, names: Sequence[str] | None) -> Self:
        return self if names is None else replace(self, names=tuple(names))

    def take(self, rows: NDArray[np.integer[Any]] | slice) -> Self:
        return type(self)(self.mask[rows], self.names)

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        return cls(np.concatenate([part.mask for part in parts]), parts[0].names)

    def __getitem__(self, row: int) -> dict[str, Any]:
        labels = np.flatnonzero(self.mask[row]).tolist()
        return {"kind": self.kind, "labels": labels, **self._named(labels), "size": len(labels)}

    def to_json(self) -> list[dict[str, Any]]:
        # All labels at once, and then each row's: several times as quick as one row after the other.
        labels = np.nonzero(self.mask)[1].tolist()
        ends = np.count_nonzero(self.mask, axis=1).cumsum().tolist()
        return [
            {
                "kind": self.kind,
                "labels": labels[start:end],
                **self._named(labels[start:end]),
                "size": end - start,
            }
            for start, end in pairwise([0, *ends])
        ]

    def _named(self, labels: list[int]) -> dict[str, Any]:
        return {} if self.names is None else {"names": [self.names[label] for label in labels]}

    def table_columns(self) -> dict[str, NDArray[Any] | Ragged]:
        """Lists of labels, and of their names where they have some: a mask of many classes would be mostly empty."""
        labels, ends = np.nonzero(self.mask)[1], np.count_nonzero(self.mask, axis=1).cumsum()
        found: dict[str, NDArray[Any] | Ragged] = {"labels": Ragged(labels, ends)}
        if self.names is not None:
            found["names"] = Ragged(np.array(self.names, dtype=object)[labels], ends)
        return found

    @property
    def size(self) -> Reals:
        return self.mask.sum(axis=1).astype(np.float64)

    def contains(self, y: ArrayLike) -> Flags:
        labels = np.asarray(codes_of(y, self.names) if self.names is not None else y)
        if labels.shape != (len(self),):
            raise DataError(f"y must hold one label per row, ({len(self)},), not {labels.shape}.", field="y")
        whole = labels.astype(np.int64)
        if np.any(whole != labels) or np.any((whole < 0) | (whole >= self.mask.shape[1])):
            raise DataError(f"labels must be whole numbers from 0 to {self.mask.shape[1] - 1}.", field="y")
        return self.mask[np.arange(len(self)), whole]

    def _over(self, x: Reals, y: NDArray[Any] | None) -> Drawing:
        names = [str(label) for label in range(self.mask.shape[1])] if self.names is None else self.names
        if y is None:
            return figures.labels(x, self.mask, names, x[:0], np.zeros(0, dtype=bool))
        codes = np.asarray(codes_of(y, self.names) if self.names is not None else y)
        return figures.labels(x, self.mask, names, codes.astype(np.float64), self.contains(y))

    def pack(self) -> list[bytes]:
        count = struct.pack("<I", self.mask.shape[1])
        return [count + row.tobytes() for row in np.packbits(self.mask, axis=1)]

    @classmethod
    def unpack(cls, payload: bytes) -> Self:
        (classes,) = struct.unpack_from("<I", payload)
        bits = np.unpackbits(np.frombuffer(payload, dtype=np.uint8, offset=4), count=classes)
        return cls(bits.astype(bool)[None, :])
