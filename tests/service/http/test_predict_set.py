"""Sets over HTTP: what core gives, whatever came with them, and clear words for what cannot be served."""

import asyncio
import io
import json
import math
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from certiset.core.certificate.guarantees import GUARANTEES
from certiset.core.resources import Promise
from certiset.core.sets import SET_KINDS
from certiset.core.settings import Settings
from certiset.service.http.app import create_app
from tests.core.fit.problems import class_data, shifted_logits, toy_data
from tests.service.bodies import NPZ, npz
from tests.service.server import Server


def test_one_set_names_its_member_and_its_certificate(server: Server, ada: httpx.Client) -> None:
    answer = ada.get("/predict_set", params={"predictor": server.id("classification"), "x": "0.5,-1"})
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    assert "infer;dur=" in answer.headers["server-timing"]
    body = answer.json()
    predictor = server.predictors["classification"]
    assert body["predictor"] == predictor.certificate.predictor_id
    assert body["certificate"] == {
        "id": predictor.certificate.id,
        "coverage": 0.9,
        "delta": 0.05,
        "guarantee": predictor.certificate.coverage.guarantee,
        "status": "consistent",
        "caveats": 0,
        "attempt": None,
        "attempts": None,
    }
    assert body["set"] == predictor.predict_set([[0.5, -1]], member=body["member"])[0]
    promise = Promise.model_validate(body["certificate"])
    assert answer.content.endswith(
        b', "certificate": ' + json.dumps(promise.model_dump(exclude_unset=True)).encode() + b"}"
    )


def test_the_promise_is_defined_once(tmp_path: Path) -> None:
    document = create_app(Settings(home=tmp_path)).openapi()
    promise = document["components"]["schemas"]["Promise"]
    assert list(promise["properties"]) == list(Promise.model_fields)
    assert promise["properties"]["guarantee"]["enum"] == sorted({one.name for one in GUARANTEES.values()})
    for method in ("get", "post"):
        answer = document["paths"]["/predict_set"][method]["responses"]["200"]["content"]["application/json"]["schema"]
        assert answer["properties"]["certificate"] == {"$ref": "#/components/schemas/Promise"}


def test_a_member_can_be_replayed_and_must_exist(server: Server, ada: httpx.Client) -> None:
    asked = {"predictor": server.id("pool"), "x": "0,1,2,3,2,1"}
    pool = server.predictors["pool"]
    for member in range(pool.members):
        body = ada.get("/predict_set", params={**asked, "member": member}).json()
        assert body["member"] == member
        assert body["set"] == pool.predict_set([[0, 1, 2, 3, 2, 1]], member=member)[0]
    answer = ada.get("/predict_set", params={**asked, "member": pool.members})
    assert answer.status_code == 422
    sentence = f"member must be from 0 to {pool.members - 1}."
    assert (answer.json()["code"], answer.json()["errors"]) == (
        "invalid_option",
        [{"where": "member", "message": sentence}],
    )
    tensor = {"name": "x", "shape": [1, 6], "datatype": "FP32", "data": [0, 1, 2, 3, 2, 1]}
    for member in (pool.members, -1):
        body = {"inputs": [tensor], "parameters": {"member": member}}
        answer = ada.post(f"/v2/models/{server.id('pool')}/infer", json=body)
        assert answer.status_code == 422
        assert answer.json()["errors"] == [{"where": "parameters.member", "message": sentence}]


def test_members_are_drawn_from_all(server: Server, ada: httpx.Client) -> None:
    pool = server.predictors["pool"]
    assert pool.members > 1
    body = npz(x=np.zeros((400, 6)))
    answer = ada.post("/predict_set", params={"predictor": server.id("pool")}, content=body, headers=NPZ).json()
    assert {row["member"] for row in answer["predictions"]} == set(range(pool.members))


@pytest.mark.parametrize("task", ["classification", "regression", "pool"])
def test_many_rows_in_every_format_are_the_sets_of_core_in_order(server: Server, ada: httpx.Client, task: str) -> None:
    x = {"classification": class_data, "regression": toy_data, "pool": shifted_logits}[task](500, 7)[0]
    predictor = server.predictors[task]
    asked = {"predictor": server.id(task)}
    as_json = ada.post("/predict_set", json={**asked, "x": x.tolist()}).json()["predictions"]
    as_npz = ada.post("/predict_set", params=asked, content=npz(x=x), headers=NPZ).json()["predictions"]
    for rows in (as_json, as_npz):
        replayed = predictor.predict_set(x, member=[row["member"] for row in rows])
        assert [row["set"] for row in rows] == replayed.to_json()
    answer = ada.post("/predict_set", params=asked, content=npz(x=x), headers={**NPZ, "Accept": "application/x-npz"})
    arrays = np.load(io.BytesIO(answer.content), allow_pickle=False)
    replayed = predictor.predict_set(x, member=arrays["member"])
    for name, column in replayed.columns().items():
        assert np.array_equal(arrays[name], column)
    kind = SET_KINDS[arrays["kind"].item().decode()]
    assert kind.from_columns(arrays).to_json() == replayed.to_json()
    assert np.array_equal(arrays["size"], replayed.size)
    assert json.loads(arrays["certificate_json"].tobytes())["id"] == predictor.certificate.id


def test_answers_do_not_depend_on_who_else_asks(server: Server) -> None:
    """Fifty clients at once, on three predictors: each answer is the one that its request gets alone."""
    tasks = ["classification", "regression", "pool"]
    inputs = {
        "classification": class_data(100, 1)[0],
        "regression": toy_data(100, 1)[0],
        "pool": shifted_logits(100, 2)[0],
    }

    async def ask() -> list[tuple[str, int, dict[str, Any]]]:
        headers = {"Authorization": f"Bearer {server.keys['ada']}"}
        limits = httpx.Limits(max_connections=50)
        async with httpx.AsyncClient(base_url=server.url, headers=headers, timeout=60, limits=limits) as client:
            # The client's own queue takes the longer the more wait in it.
            at_once = asyncio.Semaphore(50)

            async def one(number: int) -> tuple[str, int, dict[str, Any]]:
                task, row = tasks[number % 3], number % 100
                text = ",".join(repr(float(value)) for value in inputs[task][row])
                async with at_once:
                    answer = await client.get("/predict_set", params={"predictor": server.id(task), "x": text})
                assert answer.status_code == 200, answer.text
                return task, row, answer.json()

            return await asyncio.gather(*(one(number) for number in range(300)))

    for task, row, body in asyncio.run(ask()):
        alone = server.predictors[task].predict_set(inputs[task][row : row + 1].astype(np.float64), body["member"])
        assert body["set"] == alone[0]


def test_coverage_over_http_keeps_the_promise_and_matches_core(server: Server, ada: httpx.Client) -> None:
    x, y = toy_data(20_000, seed=99)
    covered, size = 0, 5000
    predictor = server.predictors["regression"]
    for start in range(0, len(x), size):
        rows = slice(start, start + size)
        answer = ada.post(
            "/predict_set",
            params={"predictor": server.id("regression")},
            content=npz(x=x[rows]),
            headers={**NPZ, "Accept": "application/x-npz"},
        )
        arrays = np.load(io.BytesIO(answer.content), allow_pickle=False)
        replayed: Any = predictor.predict_set(x[rows], member=arrays["member"])
        assert np.array_equal(arrays["lower"], replayed.lower)
        covered += int(((arrays["lower"] <= y[rows, 0]) & (y[rows, 0] <= arrays["upper"])).sum())
    assert covered / len(x) >= 0.9


WRONG: dict[str, tuple[dict[str, str], str]] = {
    "too wide": ({"x": "1,2,3"}, "shape"),
    "not finite": ({"x": "nan,1"}, "finite"),
    "infinite": ({"x": "1e999,1"}, "finite"),
    "words": ({"x": "a,b"}, "comma-separated numbers"),
    "empty": ({"x": ""}, "comma-separated numbers"),
    "nested": ({"x": "[1,2]"}, "comma-separated numbers"),
    "underscores": ({"x": "1_0,2"}, "comma-separated numbers"),
    "no x": ({}, "x is missing"),
    "half member": ({"x": "1,2", "member": "0.5"}, "whole number"),
    "negative member": ({"x": "1,2", "member": "-1"}, "whole number"),
    "nul": ({"x": "1,2", "predictor": "pred-\x00"}, "predictor must be an id"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_served_is_a_clear_problem(server: Server, ada: httpx.Client, name: str) -> None:
    given, words = WRONG[name]
    answer = ada.get("/predict_set", params={"predictor": server.id("classification"), **given})
    assert answer.status_code == 422, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert words in answer.json()["detail"]


def test_unknown_predictors_and_bodies(server: Server, ada: httpx.Client) -> None:
    assert ada.get("/predict_set", params={"predictor": "pred-0", "x": "1"}).status_code == 404
    asked = {"predictor": server.id("regression")}
    for content, headers, status in (
        (b"{", {"Content-Type": "application/json"}, 422),
        (b'{"predictor": "pred-0", "x": []}', {"Content-Type": "application/json"}, 422),
        (b"[1]", {"Content-Type": "text/csv"}, 415),
        (b"not a zip", NPZ, 422),
        (npz(y=np.zeros(3)), NPZ, 422),
        (npz(x=np.zeros((0, 1))), NPZ, 422),
        (npz(x=np.zeros((3, 4))), NPZ, 422),
        (npz(x=np.array([["a"]])), NPZ, 422),
        (npz(x=np.array(1.0)), NPZ, 422),
        (npz(x=np.array([[math.inf]])), NPZ, 422),
        (bytes(5_000_000), NPZ, 413),
    ):
        answer = ada.post("/predict_set", params=asked, content=content, headers=headers)
        assert answer.status_code == status, (content[:30], answer.text)
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["detail"].endswith(".")
    assert ada.post("/predict_set", content=npz(x=np.zeros((1, 1))), headers=NPZ).status_code == 422


def test_a_body_that_grows_past_its_limit_is_cut_off(server: Server, ada: httpx.Client) -> None:
    def endless() -> Any:
        for _ in range(100):
            yield bytes(100_000)

    answer = ada.post("/predict_set", params={"predictor": "pred-0"}, content=endless(), headers=NPZ)
    assert answer.status_code == 413


def test_a_wrong_body_costs_no_more_than_a_right_one(server: Server, ada: httpx.Client) -> None:
    many = {str(number): 0 for number in range(200_000)}
    answer = ada.post("/predict_set", json=many)
    assert answer.status_code == 422
    assert len(answer.content) < 1000
    assert len(ada.post("/calibrations", json={str(number): 0 for number in range(50_000)}).content) < 10_000


def test_serving_the_best_member_is_deterministic_and_only_for_per_draw(server: Server, ada: httpx.Client) -> None:
    id = server.id("regression")
    assert ada.patch(f"/predictors/{id}", json={"serve": "best"}).json()["serve"] == "best"
    members = {ada.get("/predict_set", params={"predictor": id, "x": "0.1"}).json()["member"] for _ in range(20)}
    assert len(members) == 1
    assert ada.patch(f"/predictors/{id}", json={"serve": "random"}).status_code == 200
    refused = ada.patch(f"/predictors/{server.id('mean')}", json={"serve": "best"})
    assert refused.status_code == 409
    assert "mean over all members" in refused.json()["detail"]
