"""Tables: which columns are y; all others of numbers, in their order, are x, and those of text are kept beside it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certiset.core.class_names import NamedTruths
from certiset.core.data.frame import Frame, TextColumn, check_distinct
from certiset.core.data.limits import Limits
from certiset.core.data_frames import nearest
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
        check_distinct(names)
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
            raise DataError(
                f"There is no column {missing[0]!r} for the target{nearest(missing[0], names)}. Name the column of "
                "truths as target.",
                field="target",
            )
        targets = [places[name] for name in wanted]
        taken = set(targets)
        inputs = [place for place in range(len(names)) if place not in taken]
        if not inputs:
            raise DataError("Besides the target, there is no column left for x.", field="target")
        return cls(names, targets, inputs)

    def split(
        self, table: NDArray[Any], texts: Mapping[int, TextColumn] | None = None
    ) -> tuple[Frame, "NDArray[Any] | NamedTruths | None"]:
        """x and y of an array with these columns, some of which hold text instead; y is None without a target."""
        named = self.named_truths(texts or {})
        further = {self.names[place]: column for place, column in (texts or {}).items() if place not in self.targets}
        numbers = [place for place in self.inputs if self.names[place] not in further]
        check_numbers_left(len(numbers))
        frame = Frame(table[:, numbers], [self.names[place] for place in numbers], further)
        if named is not None:
            return frame, named
        return frame, table[:, self.targets] if self.targets else None

    def named_truths(self, texts: Mapping[int, TextColumn]) -> NamedTruths | None:
        """The target, if it holds the names of classes; text among numbers is a mistake, and no name."""
        place = next((place for place in self.targets if place in texts), None)
        if place is None:
            return None
        column, name = texts[place], self.names[place]
        if (column.codes < 0).any():
            row = int(np.argmax(column.codes < 0)) + 1
            raise DataError(f"Row {row}, column {name!r} is empty: every row needs a truth.")
        numbers = [_is_number(value) for value in column.values]
        if any(numbers) or len(self.targets) > 1:
            row = int(np.argmax(~np.array(numbers)[column.codes]))
            shown = column.values[column.codes[row]]
            raise DataError(
                f"Row {row + 1}, column {name!r} holds {shown[:40] + '...' * (len(shown) > 40)!r}, which is not a "
                "number: truths are all numbers, or all names of classes."
            )
        return NamedTruths(column.codes.astype(np.int64), tuple(column.values))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    # Python reads 1_000 as a number, and no file means one by it.
    return "_" not in text


def check_numbers_left(columns: int) -> None:
    if not columns:
        raise DataError("Besides the target, there is no column of numbers left for x.", field="target")
