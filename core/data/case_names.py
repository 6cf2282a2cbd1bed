"""A column that names the case of each row: texts, or numbers by the text that they have as groups."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certiset.core.data.frame import Frame, TextColumn
from certiset.core.data.group_labels import complete, group_text
from certiset.core.errors import DataError

LONGEST_CASE = 200
"""letters of a case's name"""


@dataclass(frozen=True)
class CaseNames:
    codes: NDArray[np.integer[Any]]
    """(rows,): places in ``values``"""
    values: list[str]
    """each once"""

    @classmethod
    def of(cls, frame: Frame, name: str) -> "CaseNames":
        column = complete(frame.column(name, "cases"), "cases")
        codes: NDArray[np.integer[Any]]
        if isinstance(column, TextColumn):
            codes, values = column.codes, column.values
        else:
            if column.dtype.kind == "f" and not np.isfinite(column).all():
                raise DataError("cases must be finite where they are numbers.", field="cases")
            found, codes = np.unique(column, return_inverse=True)
            values = [group_text(value) for value in found.tolist()]
        if not all(0 < len(value) <= LONGEST_CASE for value in values):
            raise DataError(f"cases must be texts of 1 to {LONGEST_CASE} characters.", field="cases")
        return cls(codes, values)

    def texts(self, rows: slice) -> NDArray[np.object_]:
        """The cases of some rows."""
        return np.array([self.values[code] for code in self.codes[rows].tolist()], dtype=object)
