"""What every batch of sets can do."""

from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

Reals = NDArray[np.floating[Any]]
Flags = NDArray[np.bool_]


class PredictionSets(Protocol):
    """A batch of sets, one a row.

    A set may be empty (size 0) or without bound (size infinite); both are said in its JSON and never changed into
    something else.
    """

    def __len__(self) -> int: ...

    def __getitem__(self, row: int) -> dict[str, Any]:
        """One set as JSON has it."""
        ...

    @property
    def size(self) -> Reals:
        """The measure of each set: number of labels, width, or volume."""
        ...

    def contains(self, y: ArrayLike) -> Flags:
        """Whether each row's set contains that row's y."""
        ...

    def take(self, rows: NDArray[np.integer[Any]] | slice) -> Self:
        """These rows, in this order."""
        ...

    def to_json(self) -> list[dict[str, Any]]:
        """All sets; numbers that JSON cannot hold are null."""
        ...


def number(value: float) -> float | None:
    """A float for JSON: null where it is not finite."""
    return float(value) if np.isfinite(value) else None


def numbers(values: Reals) -> list[float | None]:
    return [number(value) for value in values]
