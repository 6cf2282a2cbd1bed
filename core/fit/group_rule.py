"""Which groups a predictor has thresholds for, and what becomes of inputs of any other."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certiset.core.data.frame import as_frame, names_of
from certiset.core.data.group_labels import MOST_GROUPS, GroupLabels, GroupName, complete, read_group_labels
from certiset.core.data_frames import shown_names
from certiset.core.errors import DamagedFileError, DataError

OTHER: GroupName = ("every other group",)
_WHOLE, _REFUSE, _OTHER = "whole", "refuse", "other"
_FIELDS = {"names", "columns", "unknown"}


@dataclass(frozen=True)
class GroupRule:
    names: tuple[GroupName, ...]
    """of the groups that are listed, in the order of their thresholds"""
    columns: tuple[str, ...] | None = None
    """whose values name them; None for an array that was given"""
    unknown: str = _WHOLE
    """what becomes of other groups: whole, refuse or other"""
    by_class: bool = False
    """the groups are the classes: each label enters by its own threshold, and inputs need not say any group"""

    @property
    def count(self) -> int:
        """Thresholds of a member."""
        return len(self.names) + (self.unknown == _OTHER)

    @property
    def all_names(self) -> list[GroupName]:
        """Of every threshold."""
        return [*self.names, *([OTHER] if self.unknown == _OTHER else [])]

    @property
    def width(self) -> int:
        """Values that name a group."""
        return len(self.names[0])

    @cached_property
    def _places(self) -> dict[GroupName, int]:
        return {name: place for place, name in enumerate(self.names)}

    def code(self, name: GroupName) -> int:
        """The place of its threshold; `count` for a group that has none, which gets the whole space."""
        found = self._places.get(name)
        if found is not None:
            return found
        if self.unknown == _REFUSE:
            listed = shown_names([", ".join(known) for known in self.names])
            raise DataError(
                f"The group {', '.join(name)[:80]!r} is not one of those that the predictor was calibrated for, and "
                f"gets no set: there are {listed}.",
                field="groups",
            )
        return len(self.names)

    def codes(self, labels: GroupLabels) -> NDArray[np.int64]:
        """(rows,): likewise for many."""
        return np.array([self.code(name) for name in labels.names], dtype=np.int64)[labels.codes]

    def codes_in_fit(self, labels: GroupLabels) -> NDArray[np.int64]:
        """The same for rows of a fit, where nothing is refused: rows of no listed group calibrate none."""
        found = [self._places.get(name, len(self.names)) for name in labels.names]
        return np.array(found, dtype=np.int64)[labels.codes]

    def read(self, given: Any, rows: int) -> NDArray[np.int64]:
        """(rows,): of what a caller gave as groups."""
        labels = given if isinstance(given, GroupLabels) else read_group_labels(given, rows, self.width)
        return self.codes(labels)

    def shown(self, code: int) -> str | list[str] | None:
        """The group as an answer names it: a text, or one for each column; null for one that has no threshold."""
        if code >= self.count:
            return None
        name = self.all_names[code]
        return name[0] if len(name) == 1 else list(name)

    def to_json(self) -> dict[str, Any]:
        if self.by_class:
            return {"names": [list(name) for name in self.names], "columns": None, "unknown": "class"}
        columns = None if self.columns is None else list(self.columns)
        return {"names": [list(name) for name in self.names], "columns": columns, "unknown": self.unknown}


def read_group_rule(described: Any) -> GroupRule | None:
    """What `GroupRule.to_json` wrote into the description of a predictor's scoring."""
    if described is None:
        return None
    if not isinstance(described, Mapping) or set(described) != _FIELDS:
        raise DamagedFileError("its groups are invalid.")
    names, columns, unknown = described["names"], described["columns"], described["unknown"]
    sound = (
        isinstance(names, list)
        and 1 <= len(names) <= MOST_GROUPS
        and all(isinstance(name, list) and name and all(type(value) is str for value in name) for name in names)
        and len({len(name) for name in names}) == 1
        and len({tuple(name) for name in names}) == len(names)
        and (columns is None or (isinstance(columns, list) and len(columns) == len(names[0])))
        and all(type(column) is str for column in columns or [])
        and unknown in (_WHOLE, _REFUSE, _OTHER, "class")
        and not (unknown == _OTHER and list(OTHER) in names)
    )
    if not sound:
        raise DamagedFileError("its groups are invalid.")
    by_class = unknown == "class"
    listed = tuple(tuple(name) for name in names)
    return GroupRule(
        listed, None if columns is None else tuple(columns), _WHOLE if by_class else unknown, by_class=by_class
    )


def labels_in(rule: GroupRule | None, x: Any) -> GroupLabels | None:
    """The columns of a data frame that name the groups, if it has them."""
    names = names_of(x)
    if rule is None or rule.columns is None or names is None:
        return None
    frame = as_frame(x)
    known = {*(frame.names or []), *frame.further}
    if not set(rule.columns) <= known:
        return None
    return GroupLabels.of([complete(frame.column(name, "groups"), "groups") for name in rule.columns])
