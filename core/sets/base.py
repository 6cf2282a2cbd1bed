"""What every kind of set knows about itself."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certiset.core.display import Card, Shown, Table
from certiset.core.drawing import Drawing
from certiset.core.errors import DataError
from certiset.core.plotting import draw
from certiset.core.sets import figures
from certiset.core.sets.measures import MEASURES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Reals = NDArray[np.floating[Any]]
Flags = NDArray[np.bool_]

_ROWS_SHOWN = 10
"""of a batch, in terminals and notebooks"""


class Ragged(NamedTuple):
    """A column of lists that need not have the same length."""

    values: NDArray[Any]
    """of all rows, one after the other"""
    ends: NDArray[np.int64]
    """(rows,): where each row's values end"""


class PredictionSets(Shown, ABC):
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
        return len(next(iter(self.columns().values())))

    @property
    def row_numbers(self) -> int:
        """how many numbers describe one set"""
        return sum(math.prod(column.shape[1:]) for column in self.columns().values())

    @classmethod
    def column_names(cls) -> list[str]:
        return [field.name for field in fields(cls)]  # type: ignore[arg-type]

    def columns(self) -> dict[str, NDArray[Any]]:
        """The arrays that make up the batch, by name."""
        return dict(vars(self))

    def table_columns(self) -> "dict[str, NDArray[Any] | Ragged]":
        """The same for a table that people read: one entry per row, by name."""
        return dict(self.columns())

    @classmethod
    def from_columns(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """From `columns`; further arrays are ignored."""
        return cls(*[arrays[name] for name in cls.column_names()])

    def with_names(self, names: Sequence[str] | None) -> Self:
        """The same sets, with the names of the classes, for kinds that have classes."""
        return self

    def take(self, rows: NDArray[np.integer[Any]] | slice) -> Self:
        """These rows, in this order."""
        return type(self)(*[column[rows] for column in self.columns().values()])

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Batches of one kind as one, in this order."""
        return cls(*[np.concatenate([getattr(part, name) for part in parts]) for name in cls.column_names()])

    def times_power_of_two(self, exponent: int) -> Self:
        """The sets of 2^exponent y, for kinds whose columns are all lengths in the unit of y."""
        return type(self)(*[np.ldexp(column, exponent) for column in self.columns().values()])

    def to_json(self) -> list[dict[str, Any]]:
        return [self[row] for row in range(len(self))]

    def text(self, row: int) -> str:
        """One set the way mathematicians write it."""
        return self.describe(self[row])

    def card(self) -> Card:
        sizes = self.size
        finite = sizes[np.isfinite(sizes)]
        # A width of 0 may be that of a point; no labels are no set.
        empty = int(np.count_nonzero(sizes == 0)) if self.whole_sizes else 0
        rows = [(str(row), self.text(row), f"{sizes[row]:.4g}") for row in range(min(len(self), _ROWS_SHOWN))]
        facts = [("mean size", f"{finite.mean():.4g} {self.unit}")] if finite.size else []
        facts += [("unbounded", f"{len(sizes) - finite.size} sets")] if finite.size < len(sizes) else []
        facts += [("empty", f"{empty} sets")] if empty else []
        many = "1 set" if len(self) == 1 else f"{len(self)} sets"
        return Card(f"{type(self).__name__}: {many}", facts=facts, table=Table(("row", "set", "size"), rows, len(self)))

    def plot(self, x: ArrayLike | None = None, y: ArrayLike | None = None, ax: "Axes | None" = None) -> "Axes":
        """Draws the sizes, or, over one input ``x`` of each row, the sets, with the truths ``y`` if they are known.

        By Matplotlib: onto these axes, or those of a figure of its own.
        """
        if x is None:
            sizes = figures.sizes(self.size, whole=self.whole_sizes, unit=self.unit, measure=self.measure)
            return draw(sizes, ax)
        places = np.asarray(x, dtype=np.float64).reshape(-1)
        if len(places) != len(self) or not len(self):
            raise DataError(f"x must hold one number for each of the {len(self)} sets.", field="x")
        order = np.argsort(places, kind="stable")
        truths = None if y is None else np.asarray(y)[order]
        return draw(self.take(order)._over(places[order], truths), ax)

    def _over(self, x: Reals, y: NDArray[Any] | None) -> Drawing:
        """The sets over one input, in its order."""
        found = self.band()
        if found is None:
            raise DataError(
                "Only intervals and sets of labels are drawn over x: leave it out to draw sizes.", field="x"
            )
        if y is None:
            return figures.band(x, *found, x[:0], x[:0], np.zeros(0, dtype=bool))
        return figures.band(x, *found, x, y.reshape(-1).astype(np.float64), self.contains(y))

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
