"""Sets as they are answered, with the member that gave them and the promise they carry."""

from collections.abc import Sequence
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from service.client.answers import Answer


class PredictionSet(Answer):
    """Labels, an interval, a ball or a box; the fields of the other kinds are None."""

    kind: Literal["labels", "interval", "ball", "box"]
    size: int | float | None
    """number of labels, width or volume; None without bound"""
    labels: tuple[int, ...] | None = None
    lower: float | tuple[float | None, ...] | None = None
    """None where there is no lower end"""
    upper: float | tuple[float | None, ...] | None = None
    center: tuple[float | None, ...] | None = None
    radius: float | None = None
    empty: bool = False
    unbounded: bool = False

    def contains(self, y: ArrayLike) -> bool:
        if self.labels is not None:
            return float(np.asarray(y)) in self.labels
        values = np.asarray(y, dtype=np.float64).reshape(-1)
        if self.empty:
            return False
        if self.kind == "ball":
            radius = np.inf if self.radius is None else self.radius
            return bool(np.linalg.norm(values - np.asarray(self.center, dtype=np.float64)) <= radius)
        return bool(np.all((_ends(self.lower, -np.inf) <= values) & (values <= _ends(self.upper, np.inf))))


class Promise(Answer):
    """What the certificate promises, in short."""

    id: str
    coverage: float
    delta: float
    guarantee: str
    status: str


class Prediction(Answer):
    prediction_id: str
    """names the set when its outcome is reported"""
    predictor: str
    member: int
    set: PredictionSet
    certificate: Promise


class Predictions(Sequence[Prediction]):
    """One prediction a row, in the order of the rows."""

    def __init__(self, predictor: str, certificate: Promise, rows: Sequence[Prediction]) -> None:
        self.predictor, self.certificate, self._rows = predictor, certificate, rows

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, row: int) -> Prediction: ...
    @overload
    def __getitem__(self, row: slice) -> Sequence[Prediction]: ...
    def __getitem__(self, row: int | slice) -> Prediction | Sequence[Prediction]:
        return self._rows[row]

    @property
    def size(self) -> NDArray[np.float64]:
        """Of each set; infinite where it has no bound."""
        return np.array([np.inf if row.set.size is None else row.set.size for row in self])

    def contains(self, y: ArrayLike) -> NDArray[np.bool_]:
        """Whether each row's set contains that row's truth."""
        return np.array([row.set.contains(truth) for row, truth in zip(self, np.asarray(y), strict=True)], dtype=bool)

    def to_json(self) -> dict[str, Any]:
        """As POST /predict_set answers."""
        head = {"predictor": self.predictor, "certificate": self.certificate.model_dump()}
        return {**head, "predictions": [prediction_json(row) for row in self]}


def prediction_json(prediction: Prediction) -> dict[str, Any]:
    """As GET /predict_set answers: a set has its own kind's fields, with null where an end is missing."""
    answer = prediction.model_dump(mode="json")
    answer["set"] = prediction.set.model_dump(mode="json", exclude_unset=True)
    return answer


def _ends(ends: float | tuple[float | None, ...] | None, missing: float) -> NDArray[np.float64]:
    listed = ends if isinstance(ends, tuple) else (ends,)
    return np.array([missing if end is None else end for end in listed])
