"""A predictor that was fitted elsewhere, taken over by a service."""

import json
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from certiset.core.fit import Predictor, fit
from certiset.core.models import Model
from tests.core.fit.problems import class_data
from tests.service.server import Server

LABELS = ["ant", "bee", "cat"]


@pytest.fixture(scope="module")
def predictor() -> Predictor:
    x, y = class_data(400, 0)
    manifest = {"task": "classification", "classes": 3, "input_shape": [x.shape[1]], "labels": LABELS}
    weights = {"head.0.weight": np.random.default_rng(0).normal(size=(3, x.shape[1])), "head.0.bias": np.zeros(3)}
    head = {"kind": "mlp", "widths": [x.shape[1], 3]}
    return fit(Model.from_manifest({**manifest, "head": head}, weights), x, y, alpha=0.2, method="standard")


@pytest.fixture
def saved(predictor: Predictor, tmp_path: Path) -> Path:
    predictor.save(tmp_path)
    return tmp_path


def send(server: Any, folder: Path, **changes: bytes) -> httpx.Response:
    files = {"file": "predictor.safetensors", "description": "predictor.json"}
    parts = {field: (name, changes.get(field, (folder / name).read_bytes())) for field, name in files.items()}
    found: httpx.Response = server.post("/predictors", files=parts)
    return found


def test_it_is_served_with_its_names_and_marked_as_imported(server: Server, saved: Path, predictor: Predictor) -> None:
    with server.client() as http:
        made = send(http, saved)
        assert made.status_code == 201, made.text
        found = made.json()
        assert (found["id"], found["imported"]) == (predictor.certificate.predictor_id, True)
        x, _ = class_data(3, 1)
        answer = http.post("/predict_set", json={"predictor": found["id"], "x": x.tolist()}).json()
        names = [row["set"]["names"] for row in answer["predictions"]]
        assert all(set(one) <= set(LABELS) for one in names)
        certificate = http.get(f"/certificates/{found['certificate_id']}").json()
        assert certificate["names"]["imported"] == "a saved predictor, unsigned"
        assert http.get(f"/certificates/{found['certificate_id']}/verify").json()["valid"]
        outcome = {"prediction_id": answer["predictions"][0]["prediction_id"], "y": "bee"}
        assert http.post("/outcomes", json=outcome).json()["covered"] == ["bee" in names[0]]
        wrong = http.post("/outcomes", json={**outcome, "y": "wasp"})
        assert wrong.status_code == 422
        assert "none of the model's classes" in wrong.json()["detail"]
        assert send(http, saved).status_code == 200
        assert http.delete(f"/predictors/{found['id']}").status_code == 204


def test_what_was_changed_is_refused(server: Server, saved: Path) -> None:
    tensors = (saved / "predictor.safetensors").read_bytes()
    described = json.loads((saved / "predictor.json").read_text())
    better = json.loads(json.dumps(described))
    better["certificate"]["coverage"]["alpha"] = 0.01
    with server.client() as http:
        for changes in (
            {"file": tensors[:-8] + bytes(8)},
            {"description": json.dumps(better).encode()},
            {"description": b"{}"},
            {"file": b"nonsense"},
        ):
            refused = send(http, saved, **changes)
            assert refused.status_code == 422, refused.text
            assert refused.json()["errors"][0]["where"] in ("file", "description")


def test_one_that_was_contradicted_is_so_when_it_is_sent_again(server: Server, saved: Path) -> None:
    with server.client() as http:
        found = send(http, saved).json()
        x, _ = class_data(60, 2)
        answer = http.post("/predict_set", json={"predictor": found["id"], "x": x.tolist()}).json()
        missing = [
            {"prediction_id": row["prediction_id"], "y": min({0, 1, 2} - {*row["set"]["labels"]})}
            for row in answer["predictions"]
            if row["set"]["size"] < 3
        ]
        http.post("/outcomes", json={"outcomes": missing})
        assert send(http, saved).json()["certificate_status"] == "contradicted"
        assert http.delete(f"/predictors/{found['id']}").status_code == 204
        again = send(http, saved)
        assert (again.status_code, again.json()["certificate_status"]) == (201, "contradicted")
        assert http.delete(f"/predictors/{found['id']}").status_code == 204
