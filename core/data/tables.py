"""Tables: which columns are y; all others of numbers, in their order, are x, and those of text are kept beside it."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from certiset.core.data.frame import Frame, TextColumn
from certiset.core.data.limits import Limits
from certiset.core.errors import DataError


@dataclass(frozen=True)
class Columns:
    names: list[str]
    targets: list[int]
    inputs: list[int]

    @classmethod
    def of(cls, names: list[str], target: str | None, limits: Limits) -> "Columns":
        """``target`` is a column, several with commas, or the stem of y_0, y_1, and so on; None if all are inputs."""
        limits.check_columns(len(names))
        twice = next((name for name, count in Counter(names).items() if count > 1), None)
        if twice is not None:
            raise DataError(f"Two columns are named {twice!r}.")
        if target is None:
            return cls(names, [], list(range(len(names))))
        places = {name: place for place, name in enumerate(names)}
        wanted = [target] if target in places else [part.strip() for part in target.split(",")]
        if target not in places and len(wanted) == 1:
            numbered = [name for name in names if re.fullmatch(rf"{re.escape(target)}_\d+", name)]
            wanted = sorted(numbered, key=lambda name: int(name.rsplit("_", 1)[1])) or wanted
        if len(set(wanted)) < len(wanted):
            raise DataError(f"The target names a column twice: {target}.", field="target")
        missing = [name for name in wanted if name not in places]
        if missing:
            shown = ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
            raise DataError(
                f"There is no column {missing[0]!r} for the target; the columns are {shown}.", field="target"
            )
        targets = [places[name] for name in wanted]
        taken = set(targets)
        inputs = [place for place in range(len(names)) if place not in taken]
        if not inputs:
            raise DataError("Besides the target, there is no column left for x.", field="target")
        return cls(names, targets, inputs)

    def split(
        self, table: NDArray[Any], texts: Mapping[int, TextColumn] | None = None
    ) -> tuple[Frame, NDArray[Any] | None]:
        """x and y of an array with these columns, some of which hold text instead; y is None without a target."""
        further = {self.names[place]: column for place, column in (texts or {}).items()}
        numbers = [place for place in self.inputs if self.names[place] not in further]
        check_numbers_left(len(numbers))
        frame = Frame(table[:, numbers], [self.names[place] for place in numbers], further)
        return frame, table[:, self.targets] if self.targets else None


def check_numbers_left(columns: int) -> None:
    if not columns:
        raise DataError("Besides the target, there is no column of numbers left for x.", field="target")
