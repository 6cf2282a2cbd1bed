"""Asks for sets: one by GET, a few as JSON, many as .npz both ways."""

import io
from collections.abc import Sequence
from operator import index
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from certiset.core.data.frame import in_order, names_of
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


def predict(
    connection: Connection, predictor: str, x: Any, member: int | None, cases: Cases = None
) -> Prediction | Predictions:
    values = np.asarray(_in_order(connection, predictor, x))
    if values.dtype.kind not in "biuf":
        raise TypeError("x must hold numbers, and rows of equal length.")
    many = None if cases is None or isinstance(cases, str) else [_name(case) for case in cases]
    if values.ndim > 1:
        # In an array the longest name sets the width of all; the server refuses such a one anyway.
        as_json = values.size <= _FEW_NUMBERS or max(map(len, many or ()), default=0) > _LONGEST_CASE
        ask = _as_json if as_json else _as_npz
        return ask(connection, predictor, values, member, cases if many is None else many)
    text = ",".join(repr(value) for value in np.atleast_1d(values).tolist())
    if len(text) > _LONGEST_QUERY:
        return _as_json(connection, predictor, values[None], member, cases if many is None else many)[0]
    if many is not None and len(many) != 1:
        raise ValueError(f"{len(many)} cases were given for one input.")
    asked = given({"predictor": predictor, "x": text, "member": member, "case": many[0] if many else cases})
    return connection.ask(Prediction, "GET", "/predict_set", params=asked)


def _name(case: Any) -> str:
    return case if isinstance(case, str) else str(index(case))


def _in_order(connection: Connection, predictor: str, x: Any) -> Any:
    """A data frame's columns as the predictor knows them; anything else as it is."""
    if names_of(x) is None:
        return x
    document = certificate_document(connection, predictor)
    options = document.get("options") or {}
    others = [options[role] for role in ("clusters", "order") if options.get(role) is not None]
    return in_order(x, (document.get("data") or {}).get("columns"), others)


def certificate_document(connection: Connection, predictor: str) -> dict[str, Any]:
    """The certificate of a predictor, as the server sent it."""
    about = connection.ask(Predictor, "GET", f"/predictors/{part(predictor)}")
    found: dict[str, Any] = connection.send("GET", f"/certificates/{part(about.certificate_id)}").json()
    return found


def _as_json(connection: Connection, predictor: str, x: NDArray[Any], member: int | None, cases: Any) -> Predictions:
    body = given({"predictor": predictor, "x": x.tolist(), "member": member, "cases": cases})
    answer = connection.send("POST", "/predict_set", json=body).json()
    rows = [Prediction.model_validate(row) for row in answer["predictions"]]
    return Predictions(answer["predictor"], Promise.model_validate(answer["certificate"]), rows)


def _as_bytes(cases: Sequence[str]) -> NDArray[np.bytes_]:
    """A fourth of what NumPy takes for text, mostly."""
    return np.array([case.encode() for case in cases], dtype="S")


def _as_npz(connection: Connection, predictor: str, x: NDArray[Any], member: int | None, cases: Any) -> Predictions:
    stream = io.BytesIO()
    named = {} if cases is None or isinstance(cases, str) else {"case": _as_bytes(cases)}
    np.savez(stream, x=x, **named)  # type: ignore[arg-type]
    response = connection.send(
        "POST",
        "/predict_set",
        params=given({"predictor": predictor, "member": member, "case": None if named else cases}),
        content=stream.getvalue(),
        headers={"Content-Type": _NPZ, "Accept": _NPZ},
    )
    with np.load(io.BytesIO(response.content), allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    promise = Promise.model_validate_json(arrays["certificate_json"].tobytes())
    sets = set_kind(arrays["kind"].item().decode()).from_columns(arrays)
    members, ids = arrays["member"].tolist(), arrays["prediction_id"].tolist()
    rows = [
        Prediction(
            prediction_id=ids[row].decode(),
            predictor=predictor,
            member=members[row],
            set=PredictionSet.model_validate(sets[row]),
            certificate=promise,
        )
        for row in range(len(ids))
    ]
    return Predictions(predictor, promise, rows)
