"""What one tenant sends keeps no other tenant waiting: over real HTTP, with an attacker beside a victim."""

import asyncio
import contextlib
import json
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator

import httpx
import numpy as np

from tests.core.fit.problems import class_data
from tests.core.models import onnx_files
from tests.servers import children_of, wait_until
from tests.service.bodies import NPZ_BACK, npz
from tests.service.server import Server


@contextlib.contextmanager
def in_loops(count: int, work: "list[int] | None", server: Server, body: bytes) -> Iterator[None]:
    """So many loops of ada's that post a body again and again; statuses are noted in ``work``."""
    stop = threading.Event()

    def loop() -> None:
        with server.client("reader") as client:
            while not stop.is_set():
                path = f"/predict_set?predictor={server.id('classification')}"
                answer = client.post(path, content=body, headers=NPZ_BACK)
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
            statuses.append(eve.post(path, content=hundred, headers=NPZ_BACK).status_code)
    assert set(statuses) == {200}
    assert len(statuses) > 20
    assert 200 in attack, "the attacker is served too, in its turn"
    assert max(times) < 2.0


def stalled_post(
    server: Server,
    who: str,
    size: int,
    path: str = "/predict_set",
    kind: str = NPZ_BACK["Content-Type"],
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
            answer = eve.post(path, content=npz(x=np.zeros((1000, 2))), headers=NPZ_BACK)
            assert answer.status_code == 200, "another tenant has its own share"
    time.sleep(0.5)
    with contextlib.closing(stalled_post(shared, "reader", size)) as again:
        assert not answered(again, 2.0), "what the others held was given back"


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


def test_reports_asked_for_at_once_are_answered_in_turn_with_what_others_ask(shared: Server) -> None:
    certificate = shared.predictors["classification"].certificate.id
    waited = asyncio.run(answers_before_eves(shared, f"/certificates/{certificate}/report.pdf", 200))
    assert waited < 60, "it was all that were left"


async def answers_before_eves(server: Server, path: str, count: int) -> int:
    """How many of so many requests of ada's, made at once, are answered while eve waits for a list."""
    answered, limits = 0, httpx.Limits(max_connections=count)
    ada, eve = ({"Authorization": f"Bearer {server.keys[name]}"} for name in ("reader", "eve"))
    async with (
        httpx.AsyncClient(base_url=server.url, headers=ada, timeout=120, limits=limits) as many,
        httpx.AsyncClient(base_url=server.url, headers=eve, timeout=120) as one,
    ):
        assert (await one.get("/predictors")).status_code == 200, "her key is known from now on"

        async def ask() -> None:
            nonlocal answered
            assert (await many.get(path)).status_code == 200
            answered += 1

        tasks = [asyncio.create_task(ask()) for _ in range(count)]
        while answered < count // 10:
            await asyncio.sleep(0.01)
        before = answered
        assert (await one.get("/predictors")).status_code == 200
        waited = answered - before
        await asyncio.gather(*tasks)
    return waited
