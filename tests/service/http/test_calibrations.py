"""From upload to certificate over HTTP, through a real worker; and every refusal before anything is queued."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from certiset.core.certificate import Certificate
from certiset.core.fit.options import FitOptions
from certiset.core.scores import SCORES
from tests.core.fit.problems import QUICK, class_data, class_model, toy_data
from tests.service.bodies import npz
from tests.service.server import Server, server_with_worker, start_server
from tests.worker.deployment import ENDLESS


@pytest.fixture(scope="module")
def with_worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with server_with_worker(tmp_path_factory.mktemp("with-worker")) as server:
        yield server


def uploaded(client: httpx.Client, rows: int = 600) -> dict[str, str]:
    x, y = class_data(rows, 3)
    dataset = client.post("/datasets", files={"file": ("data.npz", npz(x=x, y=y))})
    model = class_model()
    from safetensors.torch import save  # noqa: PLC0415

    files: Any = {"manifest": (None, json.dumps(model.manifest.to_json())), "weights": save(model.tensors())}
    answer = client.post("/models", files=files)
    assert answer.status_code in (200, 201), answer.text
    return {"dataset_id": dataset.json()["id"], "model_id": answer.json()["id"]}


def events(client: httpx.Client, id: str, **headers: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    with client.stream("GET", f"/calibrations/{id}/events", headers=headers) as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        for line in stream.iter_lines():
            name, _, value = line.partition(": ")
            if name == "event":
                found.append({"event": value})
            elif name in ("id", "data"):
                found[-1][name] = json.loads(value)
    return found


def test_rows_of_one_patient_are_calibrated_as_one(with_worker: Server) -> None:
    x, y = class_data(200, 5)
    rows = [f"{b},p{row},{a},{truth}" for row, ((a, b), truth) in enumerate(zip(x, y, strict=True)) for _ in range(2)]
    with with_worker.client() as ada:
        model = uploaded(ada)["model_id"]
        made = ada.post("/datasets", files={"file": ("t.csv", "\n".join(["second,patient,first,y", *rows]).encode())})
        asked = {"dataset_id": made.json()["id"], "model_id": model, "method": "standard", "clusters": "patient"}
        refused = ada.post("/calibrations", json={**asked, "clusters": "patients"})
        assert (refused.status_code, refused.json()["errors"][0]["where"]) == (422, "clusters")
        assert "the nearest is 'patient'" in refused.json()["detail"]
        assert ada.post("/calibrations", json={**asked, "clusters": ""}).status_code == 422
        id = ada.post("/calibrations", json=asked).json()["id"]
        assert events(ada, id)[-1]["data"]["status"] == "succeeded"
        done = ada.get(f"/calibrations/{id}").json()
        certificate = ada.get(f"/certificates/{done['certificate_id']}").json()
        assert certificate["data"].items() >= {"rows": 400, "distinct_rows": 200, "clusters": 200}.items()
        assert certificate["data"]["columns"] == ["second", "first"]
        assert "one randomly chosen input of a new patient" in certificate["statement"]
        assert ada.get(f"/certificates/{certificate['id']}/verify").json()["valid"]
        assert ada.get(f"/predictors/{done['predictor_id']}/figures/sizes").status_code == 200


def test_from_upload_to_a_certified_set(with_worker: Server) -> None:
    with with_worker.client() as ada:
        inputs = uploaded(ada)
        made = ada.post("/calibrations", json={**inputs, **QUICK, "confidence_level": 0.9, "name": "first"})
        assert made.status_code == 202, made.text
        id = made.json()["id"]
        assert made.headers["location"] == f"/calibrations/{id}"
        seen = events(ada, id)
        assert [event["event"] for event in seen][-1] == "done"
        assert {event["event"] for event in seen[:-1]} <= {"progress"}
        ended = ada.get(f"/calibrations/{id}").json()
        assert seen[-1]["data"] == ended
        assert (ended["status"], ended["attempts"], ended["name"]) == ("succeeded", 1, "first")
        assert set(ended["options"]) == set(FitOptions.model_fields) - {"confidence_level"}
        certificate = Certificate.from_json(ada.get(f"/certificates/{ended['certificate_id']}").json())
        assert certificate.coverage.alpha == 0.1
        assert certificate.verify(ada.get("/certificates/key").json()["public_key"]).valid
        asked = {"predictor": ended["predictor_id"], "x": "0.1,0.2"}
        assert ada.get("/predict_set", params=asked).json()["certificate"]["id"] == certificate.id
        assert ada.delete(f"/datasets/{inputs['dataset_id']}").status_code == 204
        assert ada.get("/predict_set", params=asked).status_code == 200
        assert ada.get(f"/certificates/{certificate.id}").status_code == 200


def test_cancelling_over_http_and_coming_back_to_the_events(with_worker: Server) -> None:
    with with_worker.client() as ada:
        inputs = uploaded(ada, rows=700)
        id = ada.post("/calibrations", json={**inputs, **ENDLESS}).json()["id"]
        deadline = time.monotonic() + 30
        while ada.get(f"/calibrations/{id}").json()["progress"] is None:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        refused = ada.delete(f"/datasets/{inputs['dataset_id']}")
        assert refused.status_code == 409
        begin = time.monotonic()
        assert ada.post(f"/calibrations/{id}/cancel").status_code == 202
        seen = events(ada, id)
        assert time.monotonic() - begin < 6
        assert seen[-1]["data"]["status"] == "cancelled"
        reports = [event["id"] for event in seen]
        assert reports == sorted(set(reports))
        again = events(ada, id, **{"Last-Event-ID": str(reports[-1])})
        assert [event["event"] for event in again] == ["done"]
        assert ada.post(f"/calibrations/{id}/cancel").json()["status"] == "cancelled"


def test_idempotency_keys(server: Server, ada: httpx.Client) -> None:
    inputs = uploaded(ada)
    key = {"Idempotency-Key": "again-1"}
    first = ada.post("/calibrations", json={**inputs, "seed": 1}, headers=key)
    assert first.status_code == 202
    same = ada.post("/calibrations", json={"seed": 1, **inputs}, headers=key)
    assert (same.status_code, same.json()["id"]) == (202, first.json()["id"])
    other = ada.post("/calibrations", json={**inputs, "seed": 2}, headers=key)
    assert other.status_code == 409
    assert "another request" in other.json()["detail"]
    with server.client("eve") as eve:
        assert eve.post("/calibrations", json={**uploaded(eve)}, headers=key).status_code == 202


REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "too few points": ({"alpha": 0.001}, "dataset_id", "too few for alpha = 0.001"),
    "wrong score": ({"score": {"kind": "residual"}}, "score", "residual is for regression"),
    "both levels": (
        {"alpha": 0.1, "confidence_level": 0.9},
        "confidence_level",
        "give either alpha or confidence_level",
    ),
    "alpha_hat above alpha": ({"alpha": 0.1, "alpha_hat": 0.2}, "alpha_hat", "must not exceed"),
    "tune a scale that is not there": ({"tune": "score"}, "tune", "no parameters of its own"),
    "a bound of another method": ({"bound": "vovk_2a"}, "bound", "choose chernoff or seeger"),
    "a guarantee of another method": ({"method": "learned", "guarantee": "pool"}, "guarantee", "choose per_draw, or"),
    "a split for the method that finds it": ({"prior": {"split": 0.5}}, "prior.split", "chooses prior.split itself"),
    "the best of a pool": ({"method": "progressive", "serve": "best"}, "serve", "best"),
    "no budget for a posterior": (
        {"method": "pac_bayes", "alpha": 0.02, "members": 1000},
        "dataset_id",
        "leave no nats for a posterior",
    ),
    "alpha out of range": ({"alpha": 1.5}, "alpha", "less than 1"),
    "unknown field": ({"alhpa": 0.1}, "alhpa", "alhpa is not an option"),
    "unknown method": ({"method": "magic"}, "method", "pac_bayes"),
    "unknown prior field": ({"prior": {"spilt": 0.5}}, "prior.spilt", "prior.spilt is not an option"),
    "a name with control characters": ({"name": "a\x00b"}, "name", "not in the accepted form"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_name_the_field_and_what_would_do(ada: httpx.Client, name: str) -> None:
    given, where, words = REFUSED[name]
    answer = ada.post("/calibrations", json={**uploaded(ada), **given})
    assert answer.status_code == 422, answer.text
    body = answer.json()
    assert body["errors"][0]["where"] == where
    assert words in body["detail"]


def test_data_that_do_not_fit_the_model_are_refused(ada: httpx.Client) -> None:
    inputs = uploaded(ada)
    x, y = class_data(300, 5)
    for arrays, words in (
        ({"x": x, "y": y + 1}, "labels must be from 0 to 2"),
        ({"x": np.hstack([x, x]), "y": y}, r"shape \(2,\)".replace("\\", "")),
        ({"x": x, "y": np.zeros(300, dtype=int)}, "every label is 0"),
        ({"x": toy_data(300, 1)[0], "y": toy_data(300, 1)[1]}, "shape"),
    ):
        dataset = ada.post("/datasets", files={"file": ("d.npz", npz(**arrays))}).json()["id"]
        answer = ada.post("/calibrations", json={**inputs, "dataset_id": dataset})
        assert answer.status_code == 422, answer.text
        assert answer.json()["errors"][0]["where"] == "dataset_id"
        assert words in answer.json()["detail"]
    assert ada.post("/calibrations", json={**inputs, "dataset_id": "ds-0"}).status_code == 404
    assert ada.post("/calibrations", content=b"{", headers={"Content-Type": "application/json"}).status_code == 422
    assert ada.post("/calibrations", content=bytes(2**20 + 1)).status_code == 413


def test_a_damaged_predictor_is_an_error_that_names_its_file_and_never_a_wrong_set(tmp_path: Path) -> None:
    server = start_server(tmp_path)
    try:
        with server.client() as ada:
            for file in (tmp_path / "artifacts").glob("??/*"):
                content = bytearray(file.read_bytes())
                content[len(content) // 2] ^= 1
                file.write_bytes(content)
            answer = ada.get("/predict_set", params={"predictor": server.id("regression"), "x": "0.1"})
            assert answer.status_code == 500
            assert "is damaged" in answer.json()["detail"]
    finally:
        server.stop()


def test_the_options_are_described_by_the_model_that_reads_them(ada: httpx.Client) -> None:
    schema = ada.get("/options").json()
    assert ".csv" in schema.pop("x-file-suffixes")
    assert schema == FitOptions.model_json_schema()
    assert schema["properties"]["delta"]["default"] == 0.05
    assert all("description" in option for option in schema["properties"].values())
    assert {kind["title"] for kind in schema["properties"]["score"]["anyOf"][0]["oneOf"]} == set(SCORES)
