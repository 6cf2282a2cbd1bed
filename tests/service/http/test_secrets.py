"""What strangers and logs must not see: keys, wherever they are put, and folders of the server."""

import io
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from certiset.core.store import Store
from tests.core.models.onnx_files import linear
from tests.servers import wait_until
from tests.service.http.test_audit import entries, key_id, npz
from tests.service.server import Server


def lines(server: Server) -> list[dict[str, Any]]:
    text = (server.settings.home / "api.log").read_text()
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def test_log_lines_name_the_key_and_its_tenant(server: Server) -> None:
    with server.client("reader") as reader, server.client(None) as nobody:
        served = reader.get("/predictors").headers["x-request-id"]
        refused = reader.delete("/datasets/ds-1").headers["x-request-id"]
        unknown = nobody.get("/predictors").headers["x-request-id"]

    def by_id() -> dict[str, dict[str, Any]]:
        return {line["request_id"]: line for line in lines(server) if line["message"] == "request"}

    wait_until(lambda: unknown in by_id(), 60, "the log")
    for id in (served, refused):
        assert (by_id()[id]["key_id"], by_id()[id]["tenant"]) == (key_id(server, "reader"), "ada")
    assert "key_id" not in by_id()[unknown]


def test_a_key_is_in_no_log_wherever_it_was_put(server: Server) -> None:
    ours, foreign = server.keys["writer"], "cs_" + "x1Y2" * 10 + "abc"
    for key in (ours, foreign):
        for path, options in (
            (f"/predictors?key={key}", {"headers": {"Authorization": f"Bearer {key}"}}),
            (f"/predictors/{key}", {"headers": {"X-API-Key": key}}),
            (f"/datasets/{key}", {"headers": {"X-API-Key": ours}}),
            (f"/{key}", {"headers": {"Authorization": f"Basic {key}"}}),
            (f"/v2/models/{key}/infer", {"headers": {"Authorization": f"Bearer {ours}"}, "json": {"key": key}}),
            ("/calibrations", {"headers": {"X-API-Key": ours, "Idempotency-Key": key}, "json": {"name": key}}),
            ("/predictors", {"headers": {"X-Request-ID": key, "User-Agent": key, "Cookie": f"key={key}"}}),
            ("/predictors", {"headers": {"Referer": f"http://here/?key={key}", "X-Forwarded-For": key}}),
            ("/predictors", {"headers": {"X-Forwarded-For": f"fe80::1%{key}"}}),
        ):
            for method in ("GET", "POST", "DELETE"):
                answer = httpx.request(method, server.url + path, **options)  # type: ignore[arg-type]
                assert key not in answer.headers["x-request-id"]
    last = httpx.get(f"{server.url}/healthz").headers["x-request-id"]
    wait_until(lambda: any(line.get("request_id") == last for line in lines(server)), 60, "the log")
    wait_until(lambda: entries(server, action="write"), 60, "the refusals to be written")
    logged = (server.settings.home / "api.log").read_text() + json.dumps(entries(server))
    assert ours not in logged
    assert foreign not in logged
    assert "Bearer" not in logged


@pytest.fixture
def broken(server: Server, ada: httpx.Client) -> Iterator[tuple[str, str]]:
    """Two datasets for a test to break."""
    ids = [ada.post("/datasets", files={"file": ("broken.npz", npz(seed))}).json()["id"] for seed in (201, 202)]
    yield ids[0], ids[1]
    for id in ids:
        ada.delete(f"/datasets/{id}")


def artifact_of(server: Server, dataset: str) -> Path:
    store = Store(server.settings)
    with store.reading() as work:
        name = work.datasets.get("ada", dataset).artifact
    store.close()
    return server.settings.home / "artifacts" / name[:2] / name


def test_problems_name_no_folder_of_the_server(server: Server, ada: httpx.Client, broken: tuple[str, str]) -> None:
    damaged, missing = (artifact_of(server, id) for id in broken)
    damaged.write_bytes(damaged.read_bytes()[:-8] + b"\0" * 8)
    missing.unlink()
    model = server.calibrations["classification"].model_id
    answers = [
        ada.get(f"/datasets/{broken[1]}/rows"),
        *(ada.post("/calibrations", json={"dataset_id": id, "model_id": model}) for id in broken),
    ]
    assert [answer.status_code for answer in answers] == [500, 500, 500]
    assert missing.name in answers[0].json()["detail"]
    manifest = {"task": "classification", "classes": 3, "input_shape": [4], "backbone": {"kind": "onnx"}}
    for content in (linear(external=True), b"nonsense", b""):
        files: dict[str, Any] = {"manifest": (None, json.dumps(manifest)), "backbone": ("model.onnx", content)}
        answers.append(ada.post("/models", files=files))
    plain = {"task": "classification", "classes": 3, "input_shape": [3]}
    answers.append(ada.post("/models", files={"manifest": (None, json.dumps(plain)), "weights": ("w.st", b"x" * 99)}))
    for name in ("bad.npz", "bad.csv", "bad.json", "bad.parquet", "bad.xyz"):
        answers.append(ada.post("/datasets", files={"file": (name, b"PK\x03\x04 nonsense")}))
    whole = io.BytesIO()
    np.savez(whole, x=np.ones((3, 2)), y=np.array([{}, {}, {}], dtype=object))
    answers.append(ada.post("/datasets", files={"file": ("objects.npz", whole.getvalue())}))
    for folder in (damaged.parent, missing.parent):
        shutil.rmtree(folder)
        folder.write_bytes(b"not a folder")
    answers += [ada.get(f"/datasets/{id}/rows") for id in broken]
    for folder in (damaged.parent, missing.parent):
        folder.unlink()
    folders = {str(server.settings.home), os.getcwd(), str(Path.home()), "/tmp/", "upload-", "site-packages"}
    for answer in answers:
        assert answer.status_code >= 400
        assert [folder for folder in folders if folder in answer.text] == [], answer.text
