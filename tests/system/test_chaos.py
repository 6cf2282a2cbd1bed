"""An attacker does everything at once for a minute, and a victim beside it is served, and calibrates."""

import contextlib
import io
import json
import socket
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from certiset.core.fit import fit
from certiset.core.models import Model
from certiset.core.store import Store
from tests.core.fit.problems import QUICK, class_data, class_model
from tests.core.models import onnx_files
from tests.service.server import Server, enter_predictor, server_with_worker

SECONDS = 60.0
NPZ = {"Content-Type": "application/x-npz", "Accept": "application/x-npz"}


def npz(**arrays: Any) -> bytes:
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    return stream.getvalue()


class Attack:
    """Loops of eve's, each doing one kind of harm until the minute is over. Whatever she gets is hers to bear."""

    def __init__(self, server: Server, ids: dict[str, str]) -> None:
        self.server, self._ids = server, ids
        self.over = threading.Event()
        self.done: dict[str, int] = {}

    def crash(self, eve: httpx.Client) -> None:
        eve.get("/predict_set", params={"predictor": self._ids["crash"], "x": "777"})

    def hang(self, eve: httpx.Client) -> None:
        eve.get("/predict_set", params={"predictor": self._ids["loop"], "x": "1e15"})

    def flood_rows(self, eve: httpx.Client) -> None:
        body = npz(x=np.zeros((200_000, 2), dtype=np.float32))
        eve.post(f"/predict_set?predictor={self._ids['own']}", content=body, headers=NPZ)

    def large_json(self, eve: httpx.Client) -> None:
        body = json.dumps({"predictor": self._ids["own"], "x": [[0.123456789] * 2] * 300_000})
        eve.post("/predict_set", content=body, headers={"Content-Type": "application/json"})

    def bomb(self, eve: httpx.Client) -> None:
        eve.post("/datasets", files={"file": ("bomb.npz", npz(x=np.zeros((2**26, 1)), y=np.zeros(2**26)))})

    def endless_upload(self, eve: httpx.Client) -> None:
        manifest = json.dumps({"task": "regression", "input_shape": [4], "backbone": {"kind": "onnx"}})
        eve.post("/models", data={"manifest": manifest}, files={"backbone": ("m.onnx", onnx_files.endless())})

    def queue_fits(self, eve: httpx.Client) -> None:
        body = {"dataset_id": self._ids["dataset"], "model_id": self._ids["model"], "prior": {"steps": 1_000_000}}
        eve.post("/calibrations", json=body)
        time.sleep(0.2)

    def half_sent(self, eve: httpx.Client) -> None:
        with contextlib.ExitStack() as connections:
            for _ in range(100):
                with contextlib.suppress(OSError):
                    connection = socket.create_connection(("127.0.0.1", self.server.port), timeout=5)
                    connections.enter_context(connection)
                    connection.send(b"POST /predict_set HTTP/1.1\r\nHost: a\r\n")
            self.over.wait(5)

    def swell(self, eve: httpx.Client) -> None:
        eve.get("/predict_set", params={"predictor": self._ids["swell"], "x": "1e9"})

    def stalled_bodies(self, eve: httpx.Client) -> None:
        head = f"POST /predict_set HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {self.server.keys['eve']}\r\n"
        with contextlib.ExitStack() as connections:
            for _ in range(8):
                with contextlib.suppress(OSError):
                    connection = socket.create_connection(("127.0.0.1", self.server.port), timeout=5)
                    connections.enter_context(connection)
                    size = f"Content-Length: {120 * 2**20}\r\n\r\nPK"
                    connection.send(f"{head}Content-Type: {NPZ['Content-Type']}\r\n{size}".encode())
            self.over.wait(5)

    def wrong_keys(self, eve: httpx.Client) -> None:
        httpx.get(f"{self.server.url}/datasets", headers={"Authorization": "Bearer wrong"})
        time.sleep(0.02)

    def streams(self, eve: httpx.Client) -> None:
        for calibration in eve.get("/calibrations").json()["items"][:1]:
            with contextlib.suppress(httpx.HTTPError), eve.stream("GET", f"/calibrations/{calibration['id']}/events"):
                self.over.wait(1)

    @contextlib.contextmanager
    def under_way(self) -> Iterator[None]:
        kinds: list[Callable[[httpx.Client], None]] = [
            self.crash,
            self.hang,
            *[self.flood_rows] * 3,
            self.large_json,
            self.bomb,
            *[self.endless_upload] * 2,
            self.queue_fits,
            self.half_sent,
            self.swell,
            self.stalled_bodies,
            self.wrong_keys,
            *[self.streams] * 8,
        ]
        threads = [threading.Thread(target=self._repeat, args=(kind,)) for kind in kinds]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self.over.set()
            for thread in threads:
                thread.join(timeout=90)

    def _repeat(self, kind: Callable[[httpx.Client], None]) -> None:
        while not self.over.is_set():
            with contextlib.suppress(httpx.HTTPError, KeyError, ValueError), self.server.client("eve") as eve:
                kind(eve)
            self.done[kind.__name__] = self.done.get(kind.__name__, 0) + 1


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with server_with_worker(tmp_path / "home", rate_limit=0, graph_seconds=2.0, fit_seconds=30.0) as made:
        yield made


def of_eve(server: Server) -> Attack:
    """Predictors of eve's whose graphs crash, loop and take gigabytes for some input, and an ordinary one."""
    generator = np.random.default_rng(0)
    inputs = generator.uniform(0, 3, size=(200, 1)).astype(np.float32)
    truths = inputs[:, 0] + generator.standard_normal(200)
    store = Store(server.settings)
    ids = {}
    graphs = {"crash": onnx_files.trap(), "loop": onnx_files.patient(), "swell": onnx_files.swelling()}
    for name, graph in graphs.items():
        manifest = {"name": name, "task": "regression", "input_shape": [1], "backbone": {"kind": "onnx"}}
        model = Model.from_manifest(manifest, onnx=graph)
        predictor = fit(model, inputs, truths, method="standard", bound="vovk_2b", score="residual")
        enter_predictor(store, predictor, "eve")
        ids[name] = predictor.certificate.predictor_id
    own = fit(class_model(), *class_data(300, 5), **QUICK)
    enter_predictor(store, own, "eve")
    store.close()
    with server.client("eve") as eve:
        x, y = class_data(400, 7)
        ids["dataset"] = eve.post("/datasets", files={"file": ("data.npz", npz(x=x, y=y))}).json()["id"]
        ids["model"] = model_of(eve)
    return Attack(server, {**ids, "own": own.certificate.predictor_id})


def model_of(client: httpx.Client) -> str:
    name = class_model().manifest.name
    return next(str(found["id"]) for found in client.get("/models").json()["items"] if found["name"] == name)


def test_a_victim_is_served_and_calibrates_while_an_attacker_does_everything_at_once(server: Server) -> None:
    attack = of_eve(server)
    statuses: list[int] = []
    seconds: list[float] = []
    hundred = npz(x=np.random.default_rng(1).normal(size=(100, 2)))
    path = f"/predict_set?predictor={server.id('classification')}"
    with server.client() as ada, attack.under_way():
        time.sleep(1)
        end = time.monotonic() + SECONDS
        x, y = class_data(400, 3)
        stored = ada.post("/datasets", files={"file": ("mine.npz", npz(x=x, y=y))})
        assert stored.status_code == 201, stored.text
        dataset = stored.json()["id"]
        asked = {"dataset_id": dataset, "model_id": model_of(ada), "method": "standard", "bound": "vovk_2b"}
        calibration = ada.post("/calibrations", json=asked)
        assert calibration.status_code == 202, calibration.text
        while time.monotonic() < end:
            for body in (None, hundred):
                begin = time.perf_counter()
                status = 0
                with contextlib.suppress(httpx.TransportError):
                    if body is None:
                        status = ada.get(f"{path}&x=0.1,0.2").status_code
                    else:
                        status = ada.post(path, content=body, headers=NPZ).status_code
                statuses.append(status)
                seconds.append(time.perf_counter() - begin)
        ended = ada.get(calibration.headers["location"]).json()
        while ended["status"] in ("queued", "running") and time.monotonic() < end + 150:
            time.sleep(0.5)
            ended = ada.get(calibration.headers["location"]).json()
    assert server.process.poll() is None
    served = statuses.count(200) / len(statuses)
    tail = statistics.quantiles(seconds, n=100)[-1]
    times = f"p50 {statistics.median(seconds):.3f} s, p99 {tail:.3f} s"
    print(f"{served:.4f} of {len(statuses)} requests served, {times}; what the attacker did: {attack.done}")
    assert (ended["status"], ended["error"]) == ("succeeded", None)
    assert len(statuses) > 100
    assert served >= 0.99, statuses
    assert set(attack.done) >= {
        "crash",
        "flood_rows",
        "bomb",
        "queue_fits",
        "half_sent",
        "swell",
        "stalled_bodies",
        "wrong_keys",
    }
