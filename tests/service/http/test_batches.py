"""Large requests have a process of their own: same answers, same words, and it may die at any time."""

import fcntl
import io
import json
import os
import re
import signal
import struct
import termios
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from tests.servers import children_of, name_of, wait_until
from tests.service.bodies import npz
from tests.service.server import Server, start_server

ROWS = 12_000
X = np.random.default_rng(3).normal(size=(ROWS, 2)).astype(np.float32)
NPZ = "application/x-npz"


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    made = start_server(tmp_path_factory.mktemp("batches"), max_predict_bytes=4_000_000)
    yield made
    made.stop()


@pytest.fixture
def ada(own: Server) -> Iterator[httpx.Client]:
    with own.client() as client:
        yield client


def post(client: httpx.Client, predictor: str, x: Any = X, accept: str = NPZ, **query: Any) -> httpx.Response:
    headers = {"Content-Type": NPZ, "Accept": accept}
    return client.post("/predict_set", params={"predictor": predictor, **query}, content=npz(x=x), headers=headers)


def metric(server: Server, name: str) -> float:
    with server.client("operator") as operator:
        found = re.search(rf"^{re.escape(name)} (\S+)$", operator.get("/metrics").text, re.MULTILINE)
    return float(found.group(1)) if found else 0.0


def batch_process(server: Server) -> int | None:
    for pid in children_of(server.process.pid):
        if name_of(pid) == "batch_server":
            return pid
    return None


def wake(server: Server, client: httpx.Client) -> int:
    """The number of a process that is ready; large requests are answered meanwhile."""

    def ready() -> bool:
        answer = post(client, server.id("classification"))
        assert answer.status_code in (200, 503), answer.text
        return metric(server, "certiset_batch_process") == 1

    wait_until(ready, 60, "the process for large requests")
    found = batch_process(server)
    assert found is not None
    return found


def test_its_answers_are_those_of_the_library(own: Server, ada: httpx.Client) -> None:
    wake(own, ada)
    predictor = own.predictors["pool"]
    x = np.random.default_rng(4).normal(size=(9_000, *predictor.scorer.model.manifest.input_shape))
    before = metric(own, "certiset_rows_total")
    answer = post(ada, own.id("pool"), x)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == NPZ
    assert answer.headers["cache-control"] == "no-store"
    assert int(answer.headers["content-length"]) == len(answer.content)
    assert answer.headers["x-request-id"]
    with np.load(io.BytesIO(answer.content)) as found:
        columns = predictor.predict_set(x, found["member"]).columns()
        assert all(np.array_equal(found[name], values) for name, values in columns.items())
        assert len(set(found["prediction_id"].tolist())) == len(x)
        first = found["prediction_id"][0].decode()
    assert metric(own, "certiset_rows_total") == before + len(x)
    reported = ada.post("/outcomes", json={"prediction_id": first, "y": 1})
    assert reported.status_code == 200, reported.text


def test_json_and_the_open_inference_protocol(own: Server, ada: httpx.Client) -> None:
    wake(own, ada)
    id, predictor = own.id("classification"), own.predictors["classification"]
    expected = predictor.predict_set(X, 0)
    asked = {"predictor": id, "x": X.astype(float).round(4).tolist(), "member": 0}
    answer = ada.post("/predict_set", json=asked)
    assert answer.status_code == 200, answer.text
    assert len(answer.json()["predictions"]) == ROWS
    tensor = {"name": "x", "datatype": "FP32", "shape": [ROWS, 2], "parameters": {"binary_data_size": X.nbytes}}
    head = json.dumps({"inputs": [tensor], "parameters": {"member": 0}}).encode()
    inferred = ada.post(
        f"/v2/models/{id}/infer",
        content=head + X.tobytes(),
        headers={"Inference-Header-Content-Length": str(len(head)), "Content-Type": "application/octet-stream"},
    )
    assert inferred.status_code == 200, inferred.text
    outputs = {output["name"]: output for output in inferred.json()["outputs"]}
    assert outputs["size"]["data"] == expected.size.tolist()
    # Counted under the route's own name, and not under that of its id.
    assert metric(own, 'certiset_requests_total{method="POST",route="/v2/models/{id}/infer",status="200"}') == 1


@pytest.mark.parametrize(
    ("x", "predictor", "status", "sentence"),
    [
        (X, "pred-00", 404, "pred-00"),
        (X.reshape(-1, 3), None, 422, "shape"),
        (X[:, None, :, None] * np.ones((1, 2, 1, 1)), None, 422, "shape"),
        (np.where(X[7, 1] == X, np.nan, X), None, 422, "finite"),
        (np.array(["text"] * 20_000), None, 422, "numbers"),
    ],
)
def test_its_refusals_are_the_same(
    own: Server, ada: httpx.Client, x: Any, predictor: str | None, status: int, sentence: str
) -> None:
    wake(own, ada)
    answer = post(ada, predictor or own.id("classification"), x)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert sentence in answer.json()["detail"]


def test_keys_and_sizes_are_looked_at_before(own: Server, ada: httpx.Client) -> None:
    wake(own, ada)
    with own.client(None) as stranger, own.client("eve") as eve:
        assert post(stranger, own.id("classification")).status_code == 401
        assert post(eve, own.id("classification")).status_code == 404
    assert post(ada, own.id("classification"), np.zeros((600_000, 2))).status_code == 413


def test_it_may_die_at_any_time(own: Server, ada: httpx.Client) -> None:
    pid = wake(own, ada)
    os.kill(pid, signal.SIGKILL)
    statuses = [post(ada, own.id("classification")).status_code for _ in range(3)]
    assert set(statuses) <= {200, 503}
    assert statuses[-1] == 200, "served by the process that answers everybody"
    assert wake(own, ada) != pid
    assert metric(own, 'certiset_confined_process_deaths_total{purpose="batch"}') == 1


def unread(pid: int) -> int:
    """Bytes that wait on a process's standard input."""
    with open(f"/proc/{pid}/fd/0", "rb", buffering=0) as pipe:
        return int(struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0])


def test_a_process_that_dies_while_it_unpacks_a_body_for_it_is_counted(own: Server, ada: httpx.Client) -> None:
    found = wake(own, ada)
    (reader,) = children_of(found)
    os.kill(reader, signal.SIGSTOP)
    with ThreadPoolExecutor(1) as threads:
        asked = threads.submit(post, ada, own.id("classification"))
        wait_until(lambda: unread(reader) > 0, 60, "the body")
        os.kill(reader, signal.SIGKILL)
        answer = asked.result()
    assert (answer.status_code, answer.json()["code"]) == (422, "sandbox_failed")
    assert metric(own, 'certiset_confined_process_deaths_total{purpose="body"}') == 1
    assert post(ada, own.id("classification")).status_code == 200


def test_it_ends_with_whoever_asked(own: Server, ada: httpx.Client) -> None:
    """The last one here: nobody is asked after it."""
    pid = wake(own, ada)
    own.process.kill()
    own.process.wait()
    wait_until(lambda: not Path(f"/proc/{pid}").exists(), 20, "the process for large requests to end")
