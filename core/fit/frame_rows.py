"""Rows of a stored table, as a predictor takes them: its inputs by their names, and the groups of the rows."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certiset.core.data.frame import Frame
from certiset.core.data.group_labels import GroupLabels, complete
from certiset.core.errors import DataError
from certiset.core.fit.predictor import Predictor
from certiset.core.fit.roles import role_columns


def frame_inputs(predictor: Predictor, frame: Frame) -> ArrayLike:
    """A view of the columns that are inputs, not yet checked."""
    data = predictor.certificate.data
    columns = data.columns if data is not None else None
    return frame.inputs(columns, role_columns(predictor.certificate.options or {}))[0]


def frame_groups(predictor: Predictor, frame: Frame, rows: int, advice: str) -> NDArray[np.int64] | None:
    """The groups of the rows, by the columns that the calibration named; ``advice`` is for groups without a column."""
    rule = predictor.groups
    if rule is None:
        return None
    if rule.columns is None:
        raise DataError(f"The groups of this predictor were given as an array: {advice}.")
    columns: list[Any] = [complete(frame.column(name, "groups"), "groups") for name in rule.columns]
    return predictor.group_codes(GroupLabels.of(columns), rows)
