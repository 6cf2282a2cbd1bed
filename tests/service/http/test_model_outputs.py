"""What the model itself says, over HTTP: for its owner, for a few rows, and counted nowhere."""

import httpx
import numpy as np
import pytest

from certiset.service.client import Client
from tests.core.fit.problems import class_data, toy_data
from tests.service.server import Server


@pytest.mark.parametrize(("task", "kind"), [("classification", "probabilities"), ("regression", "numbers")])
def test_outputs_are_those_of_the_library(server: Server, ada: httpx.Client, task: str, kind: str) -> None:
    x = (class_data if task == "classification" else toy_data)(20, 3)[0]
    answer = ada.post(f"/predictors/{server.id(task)}/outputs", json={"x": x.tolist()})
    assert answer.status_code == 200, answer.text
    body = answer.json()
    assert (body["predictor_id"], body["kind"]) == (server.id(task), kind)
    np.testing.assert_allclose(body["outputs"], server.predictors[task].model_outputs(x), rtol=1e-6)
    with Client(server.url, server.keys["reader"]) as client:
        assert client.predictors.model_outputs(server.id(task), x).outputs == tuple(map(tuple, body["outputs"]))


def test_nothing_is_issued_or_counted(server: Server, ada: httpx.Client) -> None:
    path = f"/predictors/{server.id('classification')}"
    before = ada.get(f"{path}/monitor").json()["issued"]
    assert "prediction_id" not in ada.post(f"{path}/outputs", json={"x": [[0.0, 1.0]]}).text
    assert ada.get(f"{path}/monitor").json()["issued"] == before


def test_others_and_wrong_rows_are_refused(server: Server, ada: httpx.Client) -> None:
    path = f"/predictors/{server.id('classification')}/outputs"
    with server.client("eve") as eve:
        assert eve.post(path, json={"x": [[0.0, 1.0]]}).status_code == 404
    for x, status in (([], 422), ([[1.0]], 422), ([["a", "b"]], 422), ([[0.0, 1.0]] * 30_000, 413)):
        answer = ada.post(path, json={"x": x})
        assert answer.status_code == status, answer.text
        assert answer.json()["errors"][0]["where"] == "x"
    assert ada.post(path, json={"x": [[0.0, 1.0]], "member": 1}).status_code == 422
    assert ada.post(path, content=b"[" * 2**21).status_code == 413
