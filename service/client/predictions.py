"""Sets as they are answered, with the member that gave them and the promise they carry."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import ConfigDict, model_validator

from certiset.core.certificate.rounding import at_least, promise
from certiset.core.display import Card, Shown, Table, Tone
from certiset.core.resource_base import Resource
from certiset.core.resources import Promise
from certiset.service.client.errors import ClientError

if TYPE_CHECKING:
    from certiset.core.sets import PredictionSets

_ROWS_SHOWN = 10


class PredictionSet(Shown, Resource):
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

    def card(self) -> Card:
        size = "infinite" if self.size is None else f"{self.size:.4g}"
        return Card(self.text if set_is_known(self.kind) else f"a set of the kind {self.kind}", f"size {size}")


class DeployedName(Resource):
    """The name that was asked, and the version that answered."""

    name: str
    version: int


class Prediction(Shown, Resource):
    prediction_id: str
    """names the set when its outcome is reported"""
    predictor: str
    """that answered"""
    deployment: DeployedName | None = None
    """where the name of a deployment was asked"""
    member: int
    set: PredictionSet
    certificate: Promise
    group: str | tuple[str, ...] | None = None
    """of the input, where groups have thresholds of their own"""
    whole_space: str | None = None
    """why everything is in the set: unknown_group or too_few_rows"""

    def to_json(self) -> dict[str, Any]:
        """As GET /predict_set answers: a set has the fields of its kind, with null where an end is missing."""
        unsaid = {name for name in ("group", "whole_space") if name not in self.model_fields_set}
        unsaid |= set() if self.deployment else {"deployment"}
        content = self.model_dump(mode="json", exclude=unsaid)
        content["set"] = self.set.model_dump(mode="json", exclude_unset=True)
        content["certificate"] = self.certificate.model_dump(mode="json", exclude_unset=True)
        return content

    def card(self) -> Card:
        found = self.set.card()
        said = [*_said(self.certificate), ("predictor", self.predictor), ("prediction", self.prediction_id)]
        return Card(found.title, found.beside, verdict=_verdict(self.certificate), facts=said)


class Predictions(Shown, Sequence[Prediction]):
    """One prediction per row, in the order of the rows."""

    def __init__(self, predictor: str, certificate: Promise, rows: Sequence[Prediction]) -> None:
        self.predictor, self.certificate, self._rows = predictor, certificate, rows

    @property
    def deployment(self) -> DeployedName | None:
        """Where the name of a deployment was asked: one predictor has answered for all rows."""
        return self._rows[0].deployment if self._rows else None

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
        deployed = {"deployment": self.deployment.model_dump()} if self.deployment else {}
        head = {"predictor": self.predictor, **deployed, "certificate": self.certificate.model_dump()}
        return {**head, "predictions": [row.to_json() for row in self]}

    def card(self) -> Card:
        shown = [row.set.card() for row in self._rows[:_ROWS_SHOWN]]
        rows = [(str(place), one.title, one.beside.removeprefix("size ")) for place, one in enumerate(shown)]
        return Card(
            f"Predictions: {len(self)} sets",
            verdict=_verdict(self.certificate),
            facts=[*_said(self.certificate), ("predictor", self.predictor)],
            table=Table(("row", "set", "size"), rows, len(self)),
        )


def _verdict(certificate: Promise) -> tuple[Tone, str] | None:
    """What is to be noticed first: that the promise no longer stands."""
    said = {
        "contradicted": "Reported outcomes contradict the certificate: do not rely on its promise.",
        "withdrawn": "The predictor was deleted and is no longer served.",
    }
    return ("bad", said[certificate.status]) if certificate.status in said else None


def _said(certificate: Promise) -> list[tuple[str, str]]:
    promised = f"covers at least {at_least(certificate.coverage)}, with confidence {promise(certificate.delta)}"
    caveats = [("caveats", f"{certificate.caveats}: see the certificate")] if certificate.caveats else []
    return [("promise", promised), *caveats, ("certificate", certificate.id)]


def set_is_known(name: str) -> bool:
    from certiset.core.sets import SET_KINDS  # noqa: PLC0415 (as below)

    return name in SET_KINDS


def set_kind(name: str) -> "type[PredictionSets]":
    from certiset.core.sets import SET_KINDS  # noqa: PLC0415 (loaded when the first set is read)

    if name not in SET_KINDS:
        raise ClientError(f"Sets of the kind {name!r} are unknown here: install the package that brings them.")
    return SET_KINDS[name]


def _frozen(value: Any) -> Any:
    return tuple(_frozen(one) for one in value) if isinstance(value, list) else value
