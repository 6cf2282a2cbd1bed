"""One tenant's model crashes, loops or grows without end: the others, and the rest of its own, do not notice."""

import contextlib
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pytest

from certiset.core.fit import fit
from certiset.core.models import Model
from certiset.core.store import Store
from tests.core.models import onnx_files
from tests.servers import children_of, most_memory, wait_until
from tests.service.server import Server, enter_predictor, replica_of, start_server

GRAPHS = {"trap": onnx_files.trap, "patient": onnx_files.patient, "swelling": onnx_files.swelling}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, dict[str, str]]]:
    """A server, and eve's predictors with these graphs."""
    server = start_server(tmp_path_factory.mktemp("hostile"), graph_seconds=2.0)
    generator = np.random.default_rng(0)
    x = generator.uniform(0, 3, size=(200, 1)).astype(np.float32)
    y = x[:, 0] + generator.standard_normal(200)
    ids = {}
    store = Store(server.settings)
    for name, graph in GRAPHS.items():
        manifest = {"name": name, "task": "regression", "input_shape": [1], "backbone": {"kind": "onnx"}}
        predictor = fit(
            Model.from_manifest(manifest, onnx=graph()), x, y, method="standard", bound="vovk_2b", score="residual"
        )
        enter_predictor(store, predictor, tenant="eve")
        ids[name] = predictor.certificate.predictor_id
    store.close()
    yield server, ids
    server.stop()


def ask(client: httpx.Client, predictor: str, x: float) -> httpx.Response:
    return client.get("/predict_set", params={"predictor": predictor, "x": f"{x:.0f}"})


def test_a_crash_is_a_503_and_the_next_question_is_answered(hostile: tuple[Server, dict[str, str]]) -> None:
    server, ids = hostile
    with server.client("eve") as eve, server.client() as ada:
        assert ask(eve, ids["trap"], 2).json()["set"]["kind"] == "interval"
        crashed = ask(eve, ids["trap"], 777)
        assert crashed.status_code == 503
        problem = crashed.json()
        assert problem["code"] == "model_died"
        assert problem["detail"] == "The model's process was killed by SIGFPE while it computed these rows."
        assert crashed.headers["retry-after"] == "1"
        assert server.process.poll() is None
        assert ask(eve, ids["trap"], 2).status_code == 200
        assert ask(ada, server.id("regression"), 0).status_code == 200


def test_a_loop_without_end_keeps_nobody_else_waiting(hostile: tuple[Server, dict[str, str]]) -> None:
    server, ids = hostile
    answers: list[httpx.Response] = []

    def loop() -> None:
        with server.client("eve") as eve:
            answers.append(ask(eve, ids["patient"], 1e15))

    with server.client("eve") as eve, server.client() as ada:
        assert ask(eve, ids["patient"], 2).status_code == 200
        looping = threading.Thread(target=loop)
        looping.start()
        while looping.is_alive():
            rows = np.zeros((300, *server.predictors["classification"].scorer.model.manifest.input_shape)).tolist()
            served = ada.post("/predict_set", json={"predictor": server.id("classification"), "x": rows})
            assert served.status_code == 200
            assert len(served.json()["predictions"]) == 300
        looping.join()
        assert answers[0].status_code == 503
        assert "took longer than 2 seconds" in answers[0].json()["detail"]
        for _ in range(2):
            ask(eve, ids["patient"], 1e15)
        blocked = ask(eve, ids["patient"], 2)
        assert blocked.json()["code"] == "model_blocked"
        assert blocked.status_code == 503
        assert 1 <= int(blocked.headers["retry-after"]) <= 15


def test_memory_that_a_model_asks_for_is_not_the_servers(hostile: tuple[Server, dict[str, str]]) -> None:
    server, ids = hostile
    with server.client("eve") as eve, most_memory(server.process.pid) as grown:
        assert ask(eve, ids["swelling"], 2).status_code == 200
        refused = ask(eve, ids["swelling"], 1e9)
    assert refused.status_code in (422, 503), refused.text
    assert grown[0] < 2**28, "it was 4 GiB"


def test_a_replica_stops_in_seconds_while_a_model_loops(hostile: tuple[Server, dict[str, str]]) -> None:
    server, ids = hostile
    with replica_of(server, graph_seconds=600.0) as (process, url):

        def loop() -> None:
            params, headers = {"predictor": ids["patient"], "x": "1e15"}, {"X-API-Key": server.keys["eve"]}
            with contextlib.suppress(httpx.TransportError):
                httpx.get(f"{url}/predict_set", params=params, headers=headers, timeout=120)

        looping = threading.Thread(target=loop)
        looping.start()
        wait_until(lambda: children_of(process.pid), 60, "the model's process")
        time.sleep(0.5)
        begin = time.monotonic()
        process.terminate()
        process.wait(timeout=60)
        assert time.monotonic() - begin < 12, "it was 22 s"
        looping.join()


def test_no_process_of_a_model_outlives_the_server(hostile: tuple[Server, dict[str, str]]) -> None:
    server, ids = hostile
    with server.client("eve") as eve:
        ask(eve, ids["trap"], 2)
    children = children_of(server.process.pid)
    assert children
    server.process.kill()
    server.process.wait()
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in children), 20, "the model's process to end")
