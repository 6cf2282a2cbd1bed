"""Asks for sets: one by GET, a few as JSON, many as .npz both ways."""

import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import index
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from certiset.core.data.frame import in_order, names_of
from certiset.core.data.group_labels import group_text
from certiset.core.resources import Predictor, Promise
from certiset.service.client.connection import Connection, given, part
from certiset.service.client.predictions import Prediction, Predictions, PredictionSet, set_kind

_FEW_NUMBERS = 2000
_LONGEST_QUERY = 8000
"""longer addresses are refused by some servers on the way"""
_LONGEST_CASE = 200
_NPZ = "application/x-npz"

Cases: TypeAlias = str | Sequence[str] | Sequence[int] | NDArray[Any] | None
"""one for all rows, or one for each: texts or whole numbers"""


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is asked of many inputs, in either form."""

    predictor: str
    x: NDArray[Any]
    member: int | None
    cases: str | list[str] | None
    groups: Any
    alpha: float | None

    def given(self, **names: Any) -> dict[str, Any]:
        """What every form names alike, and these."""
        return given({"predictor": self.predictor, "member": self.member, "alpha": self.alpha, **names})


def predict(
    connection: Connection,
    predictor: str,
    x: Any,
    member: int | None,
    cases: Cases = None,
    groups: Any = None,
    alpha: float | None = None,
) -> Prediction | Predictions:
    inputs, groups = _in_order(connection, predictor, x, groups)
    values = np.asarray(inputs)
    if values.dtype.kind not in "biuf":
        raise TypeError("x must hold numbers, and rows of equal length.")
    names = cases if cases is None or isinstance(cases, str) else [_name(case) for case in cases]
    many = names if isinstance(names, list) else None
    if values.ndim > 1:
        # In an array the longest name sets the width of all; the server refuses such a one anyway.
        as_json = values.size <= _FEW_NUMBERS or max(map(len, many or ()), default=0) > _LONGEST_CASE
        ask = _as_json if as_json else _as_npz
        return ask(connection, _Asked(predictor, values, member, names, groups, alpha))
    text = ",".join(repr(value) for value in np.atleast_1d(values).tolist())
    if len(text) > _LONGEST_QUERY:
        each = None if groups is None else [groups]
        return _as_json(connection, _Asked(predictor, values[None], member, names, each, alpha))[0]
    if many is not None and len(many) != 1:
        raise ValueError(f"{len(many)} cases were given for one input.")
    case = many[0] if many else names
    asked = given({"predictor": predictor, "x": text, "member": member, "case": case, "alpha": alpha})
    if groups is not None:
        asked["group"] = [group_text(value) for value in (groups if isinstance(groups, list | tuple) else [groups])]
    return connection.ask(Prediction, "GET", "/predict_set", params=asked)


def _name(case: Any) -> str:
    return case if isinstance(case, str) else str(index(case))


def _in_order(connection: Connection, predictor: str, x: Any, groups: Any) -> tuple[Any, Any]:
    """A data frame's columns as the predictor knows them, and the groups that it names; anything else as it is."""
    names = names_of(x)
    if names is None:
        return x, groups
    document = certificate_document(connection, predictor)
    options = document.get("options") or {}
    others = [options[role] for role in ("clusters", "order", "weights") if options.get(role) is not None]
    named = options.get("groups") if document.get("groups") is not None else None
    by = [] if named in (None, "class") else [named] if isinstance(named, str) else list(named)
    if groups is None and by and set(by) <= set(names):
        groups = _crossed([np.asarray(x[name]).tolist() for name in by])
    return in_order(x, (document.get("data") or {}).get("columns"), [*others, *by]), groups


def _crossed(columns: list[list[Any]]) -> list[Any]:
    """One entry for each row, or one list where columns cross."""
    return columns[0] if len(columns) == 1 else [list(values) for values in zip(*columns, strict=True)]


def _listed(groups: Any) -> Any:
    return None if groups is None else np.asarray(groups).tolist() if hasattr(groups, "dtype") else list(groups)


def certificate_document(connection: Connection, predictor: str) -> dict[str, Any]:
    """The certificate of a predictor, as the server sent it."""
    about = connection.ask(Predictor, "GET", f"/predictors/{part(predictor)}")
    found: dict[str, Any] = connection.send("GET", f"/certificates/{part(about.certificate_id)}").json()
    return found


def _as_json(connection: Connection, asked: _Asked) -> Predictions:
    body = asked.given(x=asked.x.tolist(), cases=asked.cases, groups=_listed(asked.groups))
    answer = connection.send("POST", "/predict_set", json=body).json()
    rows = [Prediction.model_validate(row) for row in answer["predictions"]]
    return Predictions(answer["predictor"], Promise.model_validate(answer["certificate"]), rows)


def _as_texts(groups: list[Any]) -> NDArray[np.bytes_]:
    if groups and isinstance(groups[0], list | tuple):
        return np.array([[group_text(value).encode() for value in row] for row in groups], dtype="S")
    return _as_bytes([group_text(value) for value in groups])


def _as_bytes(cases: Sequence[str]) -> NDArray[np.bytes_]:
    """A fourth of what NumPy takes for text, mostly."""
    return np.array([case.encode() for case in cases], dtype="S")


def _as_npz(connection: Connection, asked: _Asked) -> Predictions:
    stream = io.BytesIO()
    named = {"case": _as_bytes(asked.cases)} if isinstance(asked.cases, list) else {}
    beside = {} if asked.groups is None else {"groups": _as_texts(_listed(asked.groups))}
    np.savez(stream, x=asked.x, **named, **beside)  # type: ignore[arg-type]
    response = connection.send(
        "POST",
        "/predict_set",
        params=asked.given(case=None if named else asked.cases),
        content=stream.getvalue(),
        headers={"Content-Type": _NPZ, "Accept": _NPZ},
    )
    with np.load(io.BytesIO(response.content), allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    promise = Promise.model_validate_json(arrays["certificate_json"].tobytes())
    who = json.loads(arrays["who_json"].tobytes()) if "who_json" in arrays else {"predictor": asked.predictor}
    sets = set_kind(arrays["kind"].item().decode()).from_columns(arrays)
    sets = sets.with_names(arrays["names"].tolist() if "names" in arrays else None)
    members, ids = arrays["member"].tolist(), arrays["prediction_id"].tolist()
    grouped = _groups_of(arrays) if "group" in arrays else None
    rows = [
        Prediction(
            prediction_id=ids[row].decode(),
            predictor=who["predictor"],
            deployment=who.get("deployment"),
            member=members[row],
            set=PredictionSet.model_validate(sets[row]),
            certificate=promise,
            **({} if grouped is None else grouped(row)),
        )
        for row in range(len(ids))
    ]
    return Predictions(who["predictor"], promise, rows)


def _groups_of(arrays: dict[str, NDArray[Any]]) -> Callable[[int], dict[str, Any]]:
    """What each row's answer says about its group."""
    names, reasons = arrays["group"].tolist(), arrays["whole_space"].tolist()
    return lambda row: {"group": names[row].decode() or None, "whole_space": reasons[row].decode() or None}
