"""What one tenant sends keeps no other tenant waiting: over real HTTP, with an attacker beside a victim."""

import asyncio
import contextlib
import io
import json
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import httpx
import numpy as np
import pytest

from certiset.core.fit import fit
from certiset.core.models import Model
from certiset.core.store import Store
from tests.core.fit.problems import QUICK, class_data, class_model
from tests.core.models import onnx_files
from tests.servers import children_of, wait_until
from tests.service.server import Server, enter_predictor, start_server

NPZ = {"Content-Type": "application/x-npz", "Accept": "application/x-npz"}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    made = start_server(tmp_path_factory.mktemp("shares"), rate_limit=0)
    store = Store.ready(made.settings)
    made.predictors["of eve"] = fit(class_model(), *class_data(300, 5), **QUICK)
    enter_predictor(store, made.predictors["of eve"], "eve")
    store.close()
    yield made
    made.stop()


def npz(**arrays: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)  # type: ignore[arg-type]
    return stream.getvalue()


@contextlib.contextmanager
def in_loops(count: int, work: "list[int] | None", server: Server, body: bytes) -> Iterator[None]:
    """So many loops of ada's that post a body again and again; statuses are noted in ``work``."""
    stop = threading.Event()

    def loop() -> None:
        with server.client("reader") as client:
            while not stop.is_set():
                path = f"/predict_set?predictor={server.id('classification')}"
                answer = client.post(path, content=body, headers=NPZ)
                if work is not None:
                    work.append(answer.status_code)

    threads = [threading.Thread(target=loop) for _ in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_no_request_of_a_victim_is_refused_while_another_tenant_posts_large_batches(shared: Server) -> None:
    body = npz(x=np.random.default_rng(0).normal(size=(200_000, 2)).astype(np.float32))
    hundred = npz(x=np.random.default_rng(1).normal(size=(100, 2)))
    statuses: list[int] = []
    times: list[float] = []
    attack: list[int] = []
    path = f"/predict_set?predictor={shared.id('of eve')}"
    with in_loops(3, attack, shared, body), shared.client("eve") as eve:
        end = time.monotonic() + 5
        while time.monotonic() < end:
            begin = time.perf_counter()
            statuses.append(eve.get(f"{path}&x=0.1,0.2").status_code)
            times.append(time.perf_counter() - begin)
            statuses.append(eve.post(path, content=hundred, headers=NPZ).status_code)
    assert set(statuses) == {200}
    assert len(statuses) > 20
    assert 200 in attack, "the attacker is served too, in its turn"
    assert max(times) < 2.0


@contextlib.contextmanager
def longest_pause(server: Server) -> Iterator[list[float]]:
    """Asks for an empty answer again and again; the list then holds the longest time that one took."""
    stop, longest = threading.Event(), [0.0]

    def ask() -> None:
        with server.client(None) as client:
            while not stop.is_set():
                begin = time.perf_counter()
                assert client.get("/healthz").status_code == 200
                longest[0] = max(longest[0], time.perf_counter() - begin)
                time.sleep(0.005)

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield longest
    finally:
        stop.set()
        thread.join()


def test_large_json_is_parsed_and_written_without_stopping_the_event_loop(shared: Server) -> None:
    rows = 200_000
    values = ", ".join(f"{value:<36.6f}" for value in np.random.default_rng(0).normal(size=2 * rows))
    tensor = f'{{"name": "x", "shape": [{rows}, 2], "datatype": "FP32", "data": [{values}]}}'
    body = f'{{"id": "large", "inputs": [{tensor}]}}'
    assert 15_000_000 < len(body) < 2**24
    with shared.client("reader") as ada, longest_pause(shared) as longest:
        answer = ada.post(f"/v2/models/{shared.id('classification')}/infer", content=body)
    assert answer.status_code == 200, answer.text[:500]
    found = answer.json()
    assert found["id"] == "large"
    shapes = {output["name"]: output["shape"] for output in found["outputs"]}
    assert shapes["mask"] == [rows, 3]
    assert all(len(output["data"]) == np.prod(output["shape"]) for output in found["outputs"])
    assert longest[0] < 1.5, "it was 11 s"


def test_json_of_millions_of_numbers_is_refused_without_stopping_the_event_loop(shared: Server) -> None:
    numbers = 8_000_000
    head = f'{{"inputs": [{{"name": "x", "shape": [{numbers // 2}, 2], "datatype": "FP32", "data": ['
    body = head + "1," * (numbers - 1) + "1]}]}"
    with shared.client("reader") as ada, longest_pause(shared) as longest:
        answer = ada.post(f"/v2/models/{shared.id('classification')}/infer", content=body)
    assert (answer.status_code, answer.json()["detail"]) == (413, "At most 200,000 rows are accepted at once.")
    assert longest[0] < 0.6, "it was 1.2 s, and 11 s when 40 MiB were allowed"


def test_numbers_from_another_process_are_those_of_the_body(shared: Server) -> None:
    x = [[row / 3, 0.5] for row in range(60_000)]
    predictor = shared.id("classification")
    with shared.client("reader") as ada:
        large = ada.post("/predict_set", json={"predictor": predictor, "member": 0, "x": x})
        small = ada.post("/predict_set", json={"predictor": predictor, "member": 0, "x": x[:3]})
        assert len(large.request.content) > 2**20
        assert large.status_code == 200, large.text[:500]
        sets = [one["set"] for one in large.json()["predictions"]]
        assert len(sets) == len(x)
        assert sets[:3] == [one["set"] for one in small.json()["predictions"]]
        wrong = {"predictor": predictor, "x": [*x, ["a", "b"]]}
        for body in (wrong, {"predictor": predictor, "y": x}):
            assert ada.post("/predict_set", json=body).status_code == 422
        cut = ada.post("/predict_set", content=json.dumps(wrong)[:-1], headers={"Content-Type": "application/json"})
        assert (cut.status_code, cut.json()["errors"][0]["where"]) == (422, "body")
        chatty = ada.post("/predict_set", json={"predictor": predictor, "x": x, "note": "a" * 100_000})
        assert chatty.status_code == 422
        assert "65,536" in chatty.json()["detail"]


def test_json_beyond_16_mib_is_refused_and_told_what_to_send_instead(shared: Server) -> None:
    body = b'{"x": [' + b"1, " * (2**24 // 3) + b'1], "y": [1]}'
    with shared.client() as ada:
        answers = [
            ada.post(path, content=body, headers={"Content-Type": "application/json"})
            for path in ("/predict_set", f"/v2/models/{shared.id('classification')}/infer")
        ]
        assert all("Open Inference Protocol" in answer.json()["detail"] for answer in answers)
        answers.append(ada.post("/datasets", files={"file": ("data.json", body)}))
    for answer in answers:
        assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
        assert ".npz" in answer.json()["detail"]


def test_a_json_data_set_is_read_without_stopping_the_event_loop(shared: Server) -> None:
    rows = 2_000_000
    x, y = ",".join(["[1,2]", "[2,1]"] * (rows // 2)), ",".join(["0", "1"] * (rows // 2))
    body = f'{{"x":[{x}],"y":[{y}]}}'
    with shared.client() as ada, longest_pause(shared) as longest:
        answer = ada.post("/datasets", files={"file": ("data.json", body.encode())})
    assert answer.status_code == 201, answer.text
    assert answer.json()["rows"] == rows
    assert longest[0] < 1.5, "it was 8 s"


def stalled_post(
    server: Server,
    who: str,
    size: int,
    path: str = "/predict_set",
    kind: str = NPZ["Content-Type"],
    sent: bytes = b"PK",
) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=10)
    lines = [
        f"POST {path} HTTP/1.1",
        "Host: test",
        f"Authorization: Bearer {server.keys[who]}",
        f"Content-Type: {kind}",
        f"Content-Length: {size}",
    ]
    connection.sendall("\r\n".join([*lines, "", ""]).encode() + sent)
    return connection


def answered(connection: socket.socket, seconds: float) -> bytes:
    connection.settimeout(seconds)
    with contextlib.suppress(TimeoutError):
        return connection.recv(65_536)
    return b""


def test_stalled_bodies_reserve_no_more_than_a_share_and_give_it_back(shared: Server) -> None:
    size = 120 * 2**20
    with contextlib.ExitStack() as opened:
        stalled = [opened.enter_context(contextlib.closing(stalled_post(shared, "reader", size))) for _ in range(8)]
        answers = [answered(connection, 2.0) for connection in stalled]
        assert sorted(bool(answer) for answer in answers) == [False] * 2 + [True] * 6
        refused = next(answer for answer in answers if answer).decode()
        assert refused.startswith("HTTP/1.1 503")
        assert "retry-after: 1" in refused.lower()
        path = f"/predict_set?predictor={shared.id('of eve')}"
        with shared.client("eve") as eve:
            answer = eve.post(path, content=npz(x=np.zeros((1000, 2))), headers=NPZ)
            assert answer.status_code == 200, "another tenant has its own share"
    time.sleep(0.5)
    with contextlib.closing(stalled_post(shared, "reader", size)) as again:
        assert not answered(again, 2.0), "what the others held was given back"


def test_few_rows_with_very_many_classes_do_not_stop_the_event_loop(shared: Server) -> None:
    classes = 100_000
    generator = np.random.default_rng(3)
    manifest = {"name": "wide", "task": "classification", "classes": classes, "input_shape": [1]}
    weights = {"head.0.weight": generator.normal(size=(classes, 1)), "head.0.bias": generator.normal(size=classes)}
    model = Model.from_manifest({**manifest, "head": {"kind": "mlp", "widths": [1, classes]}}, weights)
    x, y = generator.normal(size=(100, 1)), generator.integers(classes, size=100)
    options: dict[str, Any] = {"method": "standard", "bound": "vovk_2b", "alpha": 0.2, "allow_missing_classes": True}
    predictor = fit(model, x, y, **options)
    store = Store(shared.settings)
    enter_predictor(store, predictor)
    store.close()
    path = f"/predict_set?predictor={predictor.certificate.predictor_id}"
    with shared.client("reader") as ada:
        assert ada.post(path, content=npz(x=x[:1]), headers=NPZ).status_code == 200, "it is in memory now"
        with longest_pause(shared) as longest:
            arrays = ada.post(path, content=npz(x=x[:64]), headers=NPZ)
            words = ada.post(path, content=npz(x=x[:64]), headers={"Content-Type": NPZ["Content-Type"]})
    assert (arrays.status_code, words.status_code) == (200, 200)
    assert np.load(io.BytesIO(arrays.content))["mask"].shape == (64, classes)
    assert len(words.json()["predictions"]) == 64
    assert longest[0] < 0.6, "it was 1.3 s"


def test_stalled_uploads_reserve_no_more_of_the_disk_than_a_share(shared: Server) -> None:
    form = "multipart/form-data; boundary=b"
    with contextlib.ExitStack() as opened:
        stalled = [
            opened.enter_context(
                contextlib.closing(stalled_post(shared, "writer", 2**30, "/datasets", form, b"--b\r\n"))
            )
            for _ in range(12)
        ]
        answers = [answered(connection, 1.0) for connection in stalled]
        assert sorted(bool(answer) for answer in answers) == [False] * 8 + [True] * 4
        assert next(answer for answer in answers if answer).startswith(b"HTTP/1.1 503")
        x, y = class_data(30, 1)
        with shared.client("eve") as eve:
            assert eve.post("/datasets", files={"file": ("data.npz", npz(x=x, y=y))}).status_code == 201


def test_models_that_never_end_take_their_own_tenants_places_alone(shared: Server) -> None:
    """Each of them computes for a minute before it is refused."""
    manifest = json.dumps({"task": "regression", "input_shape": [4], "backbone": {"kind": "onnx"}})
    before = set(children_of(shared.process.pid))

    def upload() -> None:
        with contextlib.suppress(httpx.TransportError), shared.client("eve") as eve:
            eve.post("/models", data={"manifest": manifest}, files={"backbone": ("m.onnx", onnx_files.endless())})

    uploads = [threading.Thread(target=upload) for _ in range(4)]
    for thread in uploads:
        thread.start()
    try:
        wait_until(lambda: len(set(children_of(shared.process.pid)) - before) == 2, 30, "two of eve's processes")
        time.sleep(3)
        x, y = class_data(30, 2)
        with shared.client() as ada:
            begin = time.monotonic()
            assert ada.post("/datasets", files={"file": ("data.npz", npz(x=x, y=y))}).status_code == 201
            assert time.monotonic() - begin < 20
        assert any(thread.is_alive() for thread in uploads)
    finally:
        deadline = time.monotonic() + 60
        while any(thread.is_alive() for thread in uploads) and time.monotonic() < deadline:
            for pid in set(children_of(shared.process.pid)) - before:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.2)


def test_streams_opened_at_once_do_not_get_past_the_limit(shared: Server) -> None:
    x, y = class_data(300, 9)
    with shared.client() as ada:
        dataset = ada.post("/datasets", files={"file": ("data.npz", npz(x=x, y=y))}).json()
        models = ada.get("/models").json()["items"]
        model = next(one for one in models if one["task"] == "classification" and one["input_shape"] == [2])
        queued = ada.post("/calibrations", json={"dataset_id": dataset["id"], "model_id": model["id"]})
        assert queued.status_code == 202, queued.text
        path = f"/calibrations/{queued.json()['id']}"
        statuses = asyncio.run(watched_at_once(shared, f"{path}/events", 150))
        assert sorted(statuses) == [200] * 32 + [429] * 118
        ada.post(f"{path}/cancel")
        assert "event: done" in ada.get(f"{path}/events").text, "places are free again"


async def watched_at_once(server: Server, path: str, count: int) -> list[int]:
    """The statuses of so many streams, all of which stay open until the last one was answered."""
    headers = {"Authorization": f"Bearer {server.keys['ada']}"}
    limits, everyone, statuses = httpx.Limits(max_connections=count), asyncio.Event(), list[int]()
    async with httpx.AsyncClient(base_url=server.url, headers=headers, timeout=60, limits=limits) as client:

        async def watch() -> None:
            async with client.stream("GET", path) as stream:
                statuses.append(stream.status_code)
                if len(statuses) == count:
                    everyone.set()
                await everyone.wait()

        await asyncio.gather(*(watch() for _ in range(count)))
    return statuses
