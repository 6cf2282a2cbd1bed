"""Columns by name over HTTP: another order is put right, and other names are refused, as in Python."""

from typing import Any

import httpx
import numpy as np
import pyarrow as pa
import pytest

from certiset.core.fit import Predictor, fit
from certiset.core.store import Store
from tests.core.fit.problems import class_data, class_model
from tests.service.bodies import npz
from tests.service.server import Server, enter_predictor

X, Y = class_data(200, 5)
NPZ = {"Content-Type": "application/x-npz"}


@pytest.fixture(scope="module")
def named(server: Server) -> Predictor:
    table = pa.table({"first": X[:, 0], "second": X[:, 1]})
    predictor = fit(class_model(), table, Y, method="standard", seed=77)
    store = Store(server.settings)
    enter_predictor(store, predictor)
    store.close()
    return predictor


def sets(answer: httpx.Response) -> list[Any]:
    assert answer.status_code == 200, answer.text
    return [one["set"] for one in answer.json()["predictions"]]


def test_another_order_is_put_right_in_json_and_npz(named: Predictor, ada: httpx.Client) -> None:
    id, x, turned = named.certificate.predictor_id, X[:20], X[:20, ::-1]
    expected = named.predict_set(x).to_json()
    assert named.predict_set(turned).to_json() != expected
    body = {"predictor": id, "x": turned.tolist(), "columns": ["second", "first"]}
    assert sets(ada.post("/predict_set", json=body)) == expected
    for names in (np.array(["second", "first"]), np.array([b"second", b"first"])):
        content = npz(x=turned, column_names=names)
        assert sets(ada.post(f"/predict_set?predictor={id}", content=content, headers=NPZ)) == expected
    many = np.tile(turned, (2000, 1))
    body = {"predictor": id, "x": many.tolist(), "columns": ["second", "first"]}
    assert sets(ada.post("/predict_set", json=body))[:20] == expected


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (["first", "third"], "x has columns that the predictor does not know: 'third'"),
        (["first"], "1 columns are named, and x has rows of shape (2,)"),
        (["first", "first"], "names one of them twice"),
        ("first", "must be a list of the names"),
        ([1, 2], "must be a list of the names"),
    ],
)
def test_other_names_are_refused(named: Predictor, ada: httpx.Client, columns: Any, words: str) -> None:
    body = {"predictor": named.certificate.predictor_id, "x": X[:2].tolist(), "columns": columns}
    answer = ada.post("/predict_set", json=body)
    assert answer.status_code == 422
    assert words in answer.json()["detail"]


def test_names_that_are_none_are_refused(named: Predictor, server: Server, ada: httpx.Client) -> None:
    path = f"/predict_set?predictor={named.certificate.predictor_id}"
    for names in (
        np.array([1, 2]),
        np.array([["first", "second"]]),
        np.array([b"\xff", b"a"]),
        np.array(["a" * 300_000]),
    ):
        answer = ada.post(path, content=npz(x=X[:2], column_names=names), headers=NPZ)
        assert answer.status_code == 422, names
        assert "column_names" in answer.json()["detail"]
    nameless = {"predictor": server.id("classification"), "x": X[:2].tolist(), "columns": ["first", "second"]}
    assert "knows no names of columns" in ada.post("/predict_set", json=nameless).json()["detail"]
