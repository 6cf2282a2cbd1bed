"""Sets as they are answered, with the member that gave them and the promise they carry."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import ConfigDict, model_validator

from certiset.core.resource_base import Resource
from certiset.core.resources import Promise
from certiset.service.client.errors import ClientError

if TYPE_CHECKING:
    from certiset.core.sets import PredictionSets


class PredictionSet(Resource):
    """A set with the fields of its kind, such as ``labels``, or ``lower`` and ``upper``."""

    model_config = ConfigDict(extra="allow")

    kind: str
    size: int | float | None
    """number of labels, width or volume; None if it is infinite"""
    empty: bool = False
    unbounded: bool = False

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    @model_validator(mode="before")
    @classmethod
    def _without_lists(cls, content: Any) -> Any:
        return {name: _frozen(value) for name, value in content.items()} if isinstance(content, dict) else content

    def contains(self, y: ArrayLike) -> bool:
        return set_kind(self.kind).includes(self.model_dump(), y)

    @property
    def text(self) -> str:
        """As mathematicians write it."""
        return set_kind(self.kind).describe(self.model_dump())


class Prediction(Resource):
    prediction_id: str
    """names the set when its outcome is reported"""
    predictor: str
    member: int
    set: PredictionSet
    certificate: Promise

    def to_json(self) -> dict[str, Any]:
        """As GET /predict_set answers: a set has the fields of its kind, with null where an end is missing."""
        content = self.model_dump(mode="json")
        content["set"] = self.set.model_dump(mode="json", exclude_unset=True)
        return content


class Predictions(Sequence[Prediction]):
    """One prediction per row, in the order of the rows."""

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
        """The size of each set; infinite where it is unbounded."""
        return np.array([np.inf if row.set.size is None else row.set.size for row in self])

    def contains(self, y: ArrayLike) -> NDArray[np.bool_]:
        """Whether each row's set contains that row's truth."""
        return np.array([row.set.contains(truth) for row, truth in zip(self, np.asarray(y), strict=True)], dtype=bool)

    def to_json(self) -> dict[str, Any]:
        """As POST /predict_set answers."""
        head = {"predictor": self.predictor, "certificate": self.certificate.model_dump()}
        return {**head, "predictions": [row.to_json() for row in self]}


def set_kind(name: str) -> "type[PredictionSets]":
    from certiset.core.sets import SET_KINDS  # noqa: PLC0415 (loaded when the first set is read)

    if name not in SET_KINDS:
        raise ClientError(f"Sets of the kind {name!r} are unknown here: install the package that brings them.")
    return SET_KINDS[name]


def _frozen(value: Any) -> Any:
    return tuple(_frozen(one) for one in value) if isinstance(value, list) else value
