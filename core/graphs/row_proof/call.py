"""One use of an operator, as its rule sees it, and the table of all rules."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from certiset.core.graphs.row_proof.graph_file import decoded
from certiset.core.graphs.row_proof.values import NotProvedError, Size, Value, place, whole

Rule: TypeAlias = Callable[["Call"], "Value | Sequence[Value]"]
RULES: dict[tuple[str, str], Rule] = {}
"""by domain and operator: what its outputs are, or `NotProvedError`"""
CLASSICAL = "ai.onnx.ml"


def rule(*operators: str, domain: str = "") -> Callable[[Rule], Rule]:
    def add(function: Rule) -> Rule:
        for operator in operators:
            RULES[domain, operator] = function
        return function

    return add


class Call:
    def __init__(
        self, operator: str, version: int, attributes: Mapping[str, Any], inputs: Sequence[Value | None], outputs: int
    ) -> None:
        self.operator, self.version, self.attributes, self.outputs = operator, version, attributes, outputs
        self._inputs = inputs

    def __len__(self) -> int:
        return len(self._inputs)

    def has(self, number: int) -> bool:
        return number < len(self._inputs) and self._inputs[number] is not None

    def raw(self, number: int = 0) -> Value:
        """The input, which may contain the number of rows."""
        found = self._inputs[number] if number < len(self._inputs) else None
        if found is None:
            raise NotProvedError("lacks an input")
        return found

    def data(self, number: int = 0) -> Value:
        """The input as numbers to compute with: the number of rows must not be among them."""
        found = self.raw(number)
        if found.sized:
            raise NotProvedError("computes with the number of rows")
        return found

    def constant(self, number: int) -> Value:
        found = self.data(number)
        if found.rows is not None:
            raise NotProvedError("has a parameter that depends on the rows")
        return found

    def constants(self, first: int) -> None:
        """All inputs from this one on must be the same whatever the rows are."""
        for number in range(first, len(self)):
            if self.has(number):
                self.constant(number)

    def content(self, number: int) -> NDArray[Any]:
        found = self.raw(number).content
        if found is None:
            raise NotProvedError("has a shape or an axis that is not a constant")
        return found

    def extents(self, number: int) -> list[int | Size]:
        return whole(self.content(number))

    def integers(self, number: int) -> list[int]:
        found = self.extents(number)
        if any(isinstance(entry, Size) for entry in found):
            raise NotProvedError("computes with the number of rows")
        return [entry for entry in found if isinstance(entry, int)]

    def attribute(self, name: str, default: Any = None) -> Any:
        """Its value as Python has it; a text is bytes."""
        found = self.attributes.get(name)
        return default if found is None else decoded(found)

    def axis(self, default: int, rank: int) -> int:
        return place(self.attribute("axis", default), rank)

    def rows_first(self, rank: int | None = None) -> Value:
        """The first input, whose rows must be its first axis, one entry each."""
        x = self.data()
        if x.rows is None or x.rows.axis != 0 or not x.rows.plain or rank not in (None, x.rank):
            raise NotProvedError("expects the rows in another place")
        return x


def calculated(function: Callable[..., Any], *arguments: Any) -> NDArray[Any]:
    """What a NumPy function makes of contents; whatever it objects to, the graph would fail on as well."""
    try:
        return np.asarray(function(*arguments), dtype=object)
    except (ValueError, IndexError, TypeError, OverflowError, MemoryError) as error:
        raise NotProvedError("has constants that do not fit") from error
