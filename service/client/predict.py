"""Asks for sets: one by GET, a few as JSON, many as .npz both ways."""

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certiset.core.resources import Promise
from certiset.service.client.connection import Connection, given
from certiset.service.client.predictions import Prediction, Predictions, PredictionSet, set_kind

_FEW_NUMBERS = 2000
_LONGEST_QUERY = 8000
"""longer addresses are refused by some servers on the way"""
_NPZ = "application/x-npz"


def predict(connection: Connection, predictor: str, x: Any, member: int | None) -> Prediction | Predictions:
    values = np.asarray(x)
    if values.dtype.kind not in "biuf":
        raise TypeError("x must hold numbers, and rows of equal length.")
    if values.ndim > 1:
        ask = _as_json if values.size <= _FEW_NUMBERS else _as_npz
        return ask(connection, predictor, values, member)
    text = ",".join(repr(value) for value in np.atleast_1d(values).tolist())
    if len(text) > _LONGEST_QUERY:
        return _as_json(connection, predictor, values[None], member)[0]
    asked = given({"predictor": predictor, "x": text, "member": member})
    return connection.ask(Prediction, "GET", "/predict_set", params=asked)


def _as_json(connection: Connection, predictor: str, x: NDArray[Any], member: int | None) -> Predictions:
    body = given({"predictor": predictor, "x": x.tolist(), "member": member})
    answer = connection.send("POST", "/predict_set", json=body).json()
    rows = [Prediction.model_validate(row) for row in answer["predictions"]]
    return Predictions(answer["predictor"], Promise.model_validate(answer["certificate"]), rows)


def _as_npz(connection: Connection, predictor: str, x: NDArray[Any], member: int | None) -> Predictions:
    stream = io.BytesIO()
    np.savez(stream, x=x)
    response = connection.send(
        "POST",
        "/predict_set",
        params=given({"predictor": predictor, "member": member}),
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
