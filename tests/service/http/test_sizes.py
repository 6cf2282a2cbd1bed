"""Sizes certified over HTTP: on datasets without truths, signed, listed with the certificates, and refused clearly."""

import base64
import json
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

import certiset
from certiset.service.client import ApiError, Client
from tests.core.fit.problems import class_data, shifted_logits, toy_data
from tests.service.bodies import npz
from tests.service.server import Server


def upload(client: httpx.Client, x: Any, **fields: str) -> dict[str, Any]:
    answer = client.post("/datasets", files={"file": ("inputs.npz", npz(x=x))}, data={"target": "", **fields})
    assert answer.status_code in (200, 201), answer.text
    body: dict[str, Any] = answer.json()
    return body


@pytest.fixture
def inputs(ada: httpx.Client) -> str:
    return str(upload(ada, class_data(1500, 77)[0], name="fresh inputs")["id"])


@pytest.fixture
def statement(server: Server, ada: httpx.Client, inputs: str) -> dict[str, Any]:
    answer = ada.post(f"/predictors/{server.id('classification')}/sizes", json={"dataset_id": inputs})
    assert answer.status_code == 202, answer.text
    body: dict[str, Any] = answer.json()
    assert answer.headers["location"] == f"/certificates/{body['id']}"
    return body


def test_inputs_without_truths_are_a_dataset(ada: httpx.Client, inputs: str) -> None:
    body = ada.get(f"/datasets/{inputs}").json()
    assert (body["y_kind"], body["target"], body["rows"]) == ("none", "", 1500)
    rows = ada.get(f"/datasets/{inputs}/rows", params={"limit": 2}).json()
    assert (len(rows["x"]), rows["y"]) == (2, [])
    again = upload(ada, class_data(1500, 77)[0])
    assert again["id"] == inputs


@pytest.mark.parametrize(
    ("filename", "content", "columns"),
    [
        ("table.csv", b"age,dose\n30.5,1\n41,3\n", ["age", "dose"]),
        ("table.json", b'[{"age": 1, "dose": 2}, {"age": 3, "dose": 4}]', ["age", "dose"]),
        ("arrays.json", b'{"x": [[1, 2], [3, 4]]}', None),
    ],
)
def test_every_format_may_come_without_truths(
    ada: httpx.Client, filename: str, content: bytes, columns: list[str] | None
) -> None:
    body = ada.post("/datasets", files={"file": (filename, content)}, data={"target": ""}).json()
    assert (body["y_kind"], body["x_shape"]) == ("none", [2])
    assert (None if body["columns"] is None else [one["name"] for one in body["columns"]]) == columns


def test_nothing_is_calibrated_on_inputs_without_truths(server: Server, ada: httpx.Client, inputs: str) -> None:
    model = server.calibrations["classification"].model_id
    answer = ada.post("/calibrations", json={"dataset_id": inputs, "model_id": model})
    assert answer.status_code == 422
    problem = answer.json()
    assert "has no truths" in problem["detail"]
    assert problem["errors"][0]["where"] == "dataset_id"


def test_the_statement_is_signed_and_can_be_recomputed_elsewhere(
    server: Server, ada: httpx.Client, statement: dict[str, Any], tmp_path: Path
) -> None:
    key = ada.get("/certificates/key").json()["public_key"]
    assert certiset.verify(statement, key).trusted
    mine = server.predictors["classification"].certify_size(class_data(1500, 77)[0])
    assert (mine.id, mine.statement) == (statement["id"], statement["statement"])
    document = ada.get(f"/certificates/{statement['id']}")
    assert document.json() == statement
    assert document.headers["certificate-status"] == "consistent"
    found = ada.get(f"/certificates/{statement['id']}/verify").json()
    assert found["valid"]
    assert {"mean size bound", "signature"} <= {check["name"] for check in found["checks"]}
    file = tmp_path / "statement.json"
    file.write_bytes(document.content)
    assert certiset.verify(file, key).trusted


def test_it_is_listed_among_the_certificates_of_its_predictor(
    server: Server, ada: httpx.Client, statement: dict[str, Any]
) -> None:
    predictor = server.id("classification")
    listed = ada.get("/certificates", params={"predictor": predictor}).json()["items"]
    assert statement in listed
    assert sum(item.get("kind") != "sizes" for item in listed) == 1
    assert statement not in ada.get("/certificates", params={"alpha": 0.1}).json()["items"]
    assert statement not in ada.get("/certificates", params={"predictor": server.id("regression")}).json()["items"]


def test_it_is_attested_and_has_a_status(ada: httpx.Client, statement: dict[str, Any]) -> None:
    for name, kind in (("attestation", ":sizes/v2"), ("status", ":status/v1")):
        answer = ada.get(f"/certificates/{statement['id']}/{name}")
        assert answer.status_code == 200, answer.text
        word = json.loads(base64.b64decode(answer.json()["payload"]))
        assert word["predicateType"].endswith(kind)
    assert ada.get(f"/certificates/{statement['id']}/figures/members").status_code == 404


def test_asking_again_finds_it_and_another_one_is_counted(
    server: Server, ada: httpx.Client, inputs: str, statement: dict[str, Any]
) -> None:
    route = f"/predictors/{server.id('classification')}/sizes"
    assert ada.post(route, json={"dataset_id": inputs}).json() == statement
    listed = ada.get("/certificates", params={"predictor": server.id("classification")}).json()["items"]
    before = [item["sizes"]["gamma"] for item in listed if item.get("kind") == "sizes"]
    other = upload(ada, class_data(400, 78)[0])["id"]
    next_one = ada.post(route, json={"dataset_id": other, "gamma": 0.1}).json()["account"]
    assert next_one["number"] == len(before) + 1
    assert next_one["gamma_all"] == pytest.approx(sum(before) + 0.1)
    assert f"number {len(before) + 1}" in next_one["statement"]


def test_a_pool_is_certified_as_it_is_served(server: Server, ada: httpx.Client) -> None:
    pool = server.id("pool")
    fresh = upload(ada, shifted_logits(800, 79)[0])["id"]
    drawn = ada.post(f"/predictors/{pool}/sizes", json={"dataset_id": fresh}).json()
    assert "each by a member drawn at random" in drawn["statement"]
    assert ada.patch(f"/predictors/{pool}", json={"serve": "best"}).status_code == 200
    try:
        alone = ada.post(f"/predictors/{pool}/sizes", json={"dataset_id": fresh}).json()
    finally:
        ada.patch(f"/predictors/{pool}", json={"serve": "random"})
    assert f"all of them by member {alone['sizes']['member']}," in alone["statement"]
    assert alone["id"] != drawn["id"]


def test_columns_are_found_by_their_names_and_truths_are_not_looked_at(server: Server, ada: httpx.Client) -> None:
    x, y = class_data(300, 80)
    labelled = ada.post("/datasets", files={"file": ("data.npz", npz(x=x, y=y))}).json()["id"]
    bare = upload(ada, x)["id"]
    route = f"/predictors/{server.id('classification')}/sizes"
    first, second = (ada.post(route, json={"dataset_id": one}).json() for one in (labelled, bare))
    assert first["id"] == second["id"]


def test_what_cannot_be_certified_is_refused(server: Server, ada: httpx.Client, inputs: str) -> None:
    route = f"/predictors/{server.id('classification')}/sizes"

    def refusal(path: str, body: Any) -> tuple[int, str]:
        answer = ada.post(path, json=body)
        return answer.status_code, answer.json()["detail"] + str(answer.json().get("errors"))

    wrong_shape = upload(ada, np.zeros((10, 5)))["id"]
    status, said = refusal(route, {"dataset_id": wrong_shape})
    assert status == 422
    assert "inputs of shape" in said
    assert "dataset_id" in said
    assert refusal(route, {"dataset_id": "ds-nothing"})[0] == 404
    assert refusal("/predictors/pred-nothing/sizes", {"dataset_id": inputs})[0] == 404
    hostile: list[Any] = [{"dataset_id": inputs, "gamma": g} for g in (0, 1.0, "0.1", None)]
    for body in (*hostile, {}, {"dataset_id": 3}, []):
        assert refusal(route, body)[0] == 422
    assert refusal(route, {"dataset_id": inputs, "member": 0})[0] == 422
    with server.client("reader") as reader:
        assert reader.post(route, json={"dataset_id": inputs}).status_code == 403
    with server.client("eve") as eve:
        assert eve.post(route, json={"dataset_id": inputs}).status_code == 404


def test_rows_that_calibrated_are_not_fresh(server: Server, ada: httpx.Client) -> None:
    calibrated = server.calibrations["classification"].dataset_id
    answer = ada.post(f"/predictors/{server.id('classification')}/sizes", json={"dataset_id": calibrated})
    assert answer.status_code == 422
    assert "used for nothing else" in answer.json()["detail"]


def test_rows_that_calibrated_are_noticed_in_another_file(server: Server, ada: httpx.Client) -> None:
    """In another order and precision, and without their truths."""
    route = f"/predictors/{server.id('classification')}/sizes"
    rows = ada.get(f"/datasets/{server.calibrations['classification'].dataset_id}/rows", params={"limit": 50}).json()
    known = np.array(rows["x"])[::-1].astype(np.float32)
    assert len(known) == 50
    answer = ada.post(route, json={"dataset_id": upload(ada, known)["id"]})
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith("100 % of these inputs are among the rows that tuned and calibrated")
    assert answer.json()["errors"][0]["where"] == "dataset_id"
    some = np.concatenate([known[:25], class_data(475, 90)[0]])
    made = ada.post(route, json={"dataset_id": upload(ada, some)["id"]}).json()
    (caveat,) = made["caveats"]
    assert caveat["code"] == "used_before"
    assert caveat["message"].startswith("5 % of the inputs")
    assert certiset.verify(made).holds
    few = np.concatenate([known[:2], class_data(498, 91)[0]])
    assert not ada.post(route, json={"dataset_id": upload(ada, few)["id"]}).json().get("caveats")


def test_inputs_that_cannot_be_compared_say_so(server: Server, ada: httpx.Client) -> None:
    assert ada.delete(f"/datasets/{server.calibrations['mean'].dataset_id}").status_code == 204
    fresh = upload(ada, shifted_logits(400, 92)[0])["id"]
    made = ada.post(f"/predictors/{server.id('mean')}/sizes", json={"dataset_id": fresh}).json()
    assert [caveat["code"] for caveat in made["caveats"]] == ["not_compared"]


def test_the_client_uploads_inputs_and_certifies(server: Server) -> None:
    with Client(server.url, server.keys["ada"]) as client:
        dataset = client.datasets.upload(x=toy_data(1200, 81)[0], target=None)
        assert dataset.y_kind == "none"
        predictor = server.id("classification")
        fresh = client.datasets.upload(x=class_data(500, 82)[0], target=None)
        made = client.predictors.certify_size(predictor, fresh.id, gamma=0.2)
        assert made.sizes.gamma == 0.2
        assert made.sizes.empirical <= made.sizes.upper_bound
        assert made.id in [one.id for one in client.certificates.sizes(predictor)]
        assert made.id not in [one.id for one in client.certificates.list(predictor=predictor)]
        assert client.certificates.verify(made.id).valid
        assert certiset.verify(made, client.certificates.key().public_key).trusted
        with pytest.raises(ApiError, match="inputs of shape"):
            client.predictors.certify_size(predictor, dataset.id)
        with pytest.raises(TypeError):
            client.datasets.upload(x=[[1.0]])
