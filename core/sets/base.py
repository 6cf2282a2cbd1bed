"""What every kind of set knows about itself."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certiset.core.sets.measures import MEASURES

Reals = NDArray[np.floating[Any]]
Flags = NDArray[np.bool_]


class PredictionSets(ABC):
    """A batch of sets, one per row: a frozen dataclass whose fields are arrays with one entry per row.

    A set may be empty (size 0) or unbounded (size infinite); both are stated in its JSON and never changed into
    something else. A subclass is one kind of set, and all that the rest of the project knows about that kind.
    """

    kind: ClassVar[str]
    """the name in JSON"""
    code: ClassVar[int]
    """the number in prediction ids: 0 to 63 for certiset's own kinds, 64 to 127 for those of other packages"""
    measure: ClassVar[str]
    """what the size counts: labels, width or volume"""
    unit: ClassVar[str]
    """of sizes in a sentence, such as "units of width" """
    whole_sizes: ClassVar[bool] = False
    """whether sizes are whole numbers"""

    def __init_subclass__(cls) -> None:
        # An auditor who lacks the package must still be able to read the certificate.
        if hasattr(cls, "measure") and cls.measure not in MEASURES:
            raise TypeError(f"the measure of {cls.__name__} must be one of {', '.join(MEASURES)}")

    @classmethod
    @abstractmethod
    def json_schema(cls) -> dict[str, Any]:
        """Of one set as `__getitem__` gives it."""

    @classmethod
    @abstractmethod
    def tensors(cls) -> list[tuple[str, str, int]]:
        """The columns for the Open Inference Protocol: name, datatype, number of dimensions."""

    @classmethod
    @abstractmethod
    def describe(cls, found: Mapping[str, Any]) -> str:
        """One set, given as JSON, the way mathematicians write it."""

    @classmethod
    @abstractmethod
    def from_json(cls, found: Mapping[str, Any]) -> Self:
        """A batch of one row, from the JSON of one set."""

    @classmethod
    def includes(cls, found: Mapping[str, Any], y: ArrayLike) -> bool:
        """Whether one set, given as JSON, contains y."""
        return not found.get("empty") and bool(cls.from_json(found).contains(np.asarray(y)[None])[0])

    @abstractmethod
    def __getitem__(self, row: int) -> dict[str, Any]:
        """One set as JSON; numbers that JSON cannot hold are null."""

    @property
    @abstractmethod
    def size(self) -> Reals:
        """The measure of each set: number of labels, width, or volume."""

    @abstractmethod
    def contains(self, y: ArrayLike) -> Flags:
        """Whether each row's set contains that row's y."""

    @abstractmethod
    def pack(self) -> list[bytes]:
        """Each row in a compact form, for prediction ids."""

    @classmethod
    @abstractmethod
    def unpack(cls, payload: bytes) -> Self:
        """A batch of one row, from its compact form."""

    def __len__(self) -> int:
        return len(next(iter(vars(self).values())))

    @property
    def row_numbers(self) -> int:
        """how many numbers describe one set"""
        return sum(math.prod(column.shape[1:]) for column in vars(self).values())

    @classmethod
    def column_names(cls) -> list[str]:
        return [field.name for field in fields(cls)]  # type: ignore[arg-type]

    def columns(self) -> dict[str, NDArray[Any]]:
        """The arrays that make up the batch, by name."""
        return dict(vars(self))

    @classmethod
    def from_columns(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """From `columns`; further arrays are ignored."""
        return cls(*[arrays[name] for name in cls.column_names()])

    def take(self, rows: NDArray[np.integer[Any]] | slice) -> Self:
        """These rows, in this order."""
        return type(self)(*[column[rows] for column in vars(self).values()])

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Batches of one kind as one, in this order."""
        return cls(*[np.concatenate([getattr(part, name) for part in parts]) for name in cls.column_names()])

    def times_power_of_two(self, exponent: int) -> Self:
        """The sets of 2^exponent y, for kinds whose columns are all lengths in the unit of y."""
        return type(self)(*[np.ldexp(column, exponent) for column in vars(self).values()])

    def to_json(self) -> list[dict[str, Any]]:
        return [self[row] for row in range(len(self))]

    def text(self, row: int) -> str:
        """One set the way mathematicians write it."""
        return self.describe(self[row])

    def band(self) -> tuple[Reals, Reals] | None:
        """Lower and upper ends for a plot over one input, where the sets are intervals of the real line."""
        return None


def number(value: float) -> float | None:
    """A float for JSON: null where it is not finite."""
    return float(value) if np.isfinite(value) else None


def numbers(values: Reals) -> list[float | None]:
    return [number(value) for value in values]


def ends(values: Any, missing: float) -> NDArray[np.float64]:
    """Ends of a set from JSON, where null stands for a missing one."""
    listed = values if isinstance(values, list | tuple) else [values]
    return np.array([missing if value is None else value for value in listed], dtype=np.float64)


def shown(value: float | None, missing: str) -> str:
    return missing if value is None else f"{value:.6g}"


def set_schema(kind: str, size: Mapping[str, Any], **properties: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON Schema of a set with these fields beside its kind and size."""
    return {
        "type": "object",
        "required": ["kind", "size", *properties],
        "properties": {
            "kind": {"const": kind},
            "size": dict(size),
            **{name: dict(schema) for name, schema in properties.items()},
            "empty": {"type": "boolean"},
            "unbounded": {"type": "boolean"},
        },
    }


END = {"type": ["number", "null"]}
ENDS = {"type": ["array", "null"], "items": END}
