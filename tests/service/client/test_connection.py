"""Refusals as sentences, patience with a busy server, and streams that break."""

import json
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from certiset.core.errors import DataError
from certiset.core.resources import Ready
from certiset.service.client import ApiError, Client, ClientError, Dataset, Event, Model, UnreachableError
from certiset.service.client.defaults import default_key, default_url
from tests.servers import answers, free_port, wait_until
from tests.service.client.cutting_proxy import CuttingProxy
from tests.service.client.scripted_server import scripted
from tests.service.server import Server
from tests.worker.deployment import ENDLESS

BUSY = {
    "type": "about:blank",
    "title": "Service Unavailable",
    "status": 503,
    "detail": "Too many rows are waiting.",
    "code": "busy",
}
READY = {"ready": True, "database": "ok", "broker": "ok", "artifacts": "ok"}
KEY = {"algorithm": "ed25519", "public_key": "AA=="}


def test_the_servers_sentence_is_the_errors(client: Client, deployment: Server, inputs: tuple[Dataset, Model]) -> None:
    with pytest.raises(ApiError) as refused:
        client.calibrations.start(inputs[0].id, inputs[1].id, alpha=1.5)
    assert (refused.value.status, refused.value.errors[0].where) == (422, "alpha")
    assert refused.value.code == "invalid_option"
    assert str(refused.value) == refused.value.detail
    assert "less than 1" in str(refused.value)
    with (
        Client(deployment.url, "wrong") as stranger,
        pytest.raises(ApiError, match="This API key is unknown, or was revoked"),
    ):
        next(stranger.datasets.list())
    with Client(deployment.url, deployment.keys["reader"]) as reader, pytest.raises(ApiError, match="scope 'write'"):
        reader.datasets.upload(x=[[1.0]], y=[1.0])


def test_nobody_there() -> None:
    url = f"http://127.0.0.1:{free_port()}"
    with Client(url, "key") as client:
        with pytest.raises(UnreachableError, match=f"Nothing answers at {url}: is `certiset up` running"):
            client.health()
        with pytest.raises(UnreachableError, match="Nothing answers"):
            client.calibrations.wait("cal-1")
    with Client("nonsense", "key") as client, pytest.raises(UnreachableError, match="must begin with http"):
        client.health()
    with pytest.raises(UnreachableError, match="is not an address"):
        Client("http://127.0.0.1:port")
    with pytest.raises(ClientError, match="no key has"):
        Client("http://127.0.0.1", "clé")


def test_something_else_there() -> None:
    with (
        scripted((404, {}, "<html>")) as server,
        Client(server.url, "key") as client,
        pytest.raises(ApiError, match="404 Not Found"),
    ):
        client.datasets.get("ds-1")


def test_a_busy_server_is_asked_again_after_its_pause() -> None:
    pause = {"Retry-After": "1"}
    with (
        scripted((503, pause, BUSY), (429, pause, BUSY), (200, {}, KEY)) as server,
        Client(server.url, "key") as client,
    ):
        begin = time.monotonic()
        assert client.certificates.key().public_key == "AA=="
        assert time.monotonic() - begin >= 2
    assert len(server.asked) == 3


def test_an_upload_that_is_repeated_is_whole(tmp_path: Path) -> None:
    made = {"id": "ds-1", "name": "", "rows": 1, "x_shape": [1], "y_kind": "numbers", "target": "y", "sha256": ""}
    answer = {**made, "bytes": 1, "created_at": ""}
    np.savez(tmp_path / "data.npz", x=np.zeros(1000), y=np.zeros(1000))
    with scripted((503, {"Retry-After": "0"}, BUSY), (201, {}, answer)) as server, Client(server.url, "key") as client:
        client.datasets.upload(tmp_path / "data.npz")
    lengths = [int(headers["content-length"]) for _, _, headers in server.asked]
    assert lengths[0] == lengths[1] > 16_000


def test_what_is_not_the_same_twice_is_not_sent_twice() -> None:
    with scripted((503, {"Retry-After": "0"}, BUSY)) as server, Client(server.url, "key") as client:
        with pytest.raises(ApiError, match="Too many rows"):
            client.datasets.delete("ds-1")
        assert len(server.asked) == 1
        with pytest.raises(ApiError, match="Too many rows"):
            client.calibrations.start("ds-1", "mod-1")
        keys = {headers["idempotency-key"] for method, _, headers in server.asked if method == "POST"}
        assert len(keys) == 1


def test_health_names_what_is_unavailable() -> None:
    with scripted((503, {}, {**READY, "ready": False, "broker": "away"})) as server, Client(server.url) as client:
        assert client.health() == Ready(ready=False, database="ok", broker="away", artifacts="ok")


def test_which_server_and_key_by_default(tmp_path: Path) -> None:
    assert default_url({}) == "http://127.0.0.1:8000"
    assert default_url({"CERTISET_URL": "https://sets.example"}) == "https://sets.example"
    (tmp_path / "key").write_text("of the file\n")
    home = {"CERTISET_HOME": str(tmp_path)}
    assert default_key("http://127.0.0.1:8000", home) == "of the file"
    assert default_key("http://localhost:8000", home) == "of the file"
    assert default_key("http://localhost:8000", {**home, "CERTISET_KEY": "of the environment"}) == "of the environment"
    assert default_key("https://sets.example", home) is None
    assert default_key("http://127.0.0.1:8000", {"CERTISET_HOME": str(tmp_path / "nowhere")}) is None


def collected(client: Client, id: str) -> tuple[list[Event], threading.Thread]:
    found: list[Event] = []
    thread = threading.Thread(target=lambda: found.extend(iter_into(found, client, id)))
    thread.start()
    return found, thread


def iter_into(found: list[Event], client: Client, id: str) -> list[Event]:
    for event in client.calibrations.events(id):
        found.append(event)
    return []


def assert_whole(found: list[Event], client: Client, id: str) -> None:
    """Each event once, in order, as an undisturbed reader sees them."""
    assert found == list(client.calibrations.events(id))


def test_a_stream_that_is_cut_goes_on_where_it_ended(
    client: Client, deployment: Server, inputs: tuple[Dataset, Model]
) -> None:
    started = client.calibrations.start(inputs[0].id, inputs[1].id, **ENDLESS)
    with (
        CuttingProxy(deployment.port) as proxy,
        Client(f"http://127.0.0.1:{proxy.port}", deployment.keys["ada"]) as far,
    ):
        found, thread = collected(far, started.id)
        for enough in (2, 5, 8):
            wait_until(lambda enough=enough: len(found) >= enough, 60, "events")  # type: ignore[misc]
            proxy.cut()
        client.calibrations.cancel(started.id)
        thread.join(30)
        assert not thread.is_alive()
        assert proxy.connections >= 3
    assert_whole(found, client, started.id)


def test_a_stream_survives_a_server_that_is_killed_and_started_again(
    deployment: Server, client: Client, inputs: tuple[Dataset, Model]
) -> None:
    port = free_port()
    command = [sys.executable, "-m", "certiset", "api", "--port", str(port), "--home", str(deployment.settings.home)]

    def start() -> "subprocess.Popen[bytes]":
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: answers(f"http://127.0.0.1:{port}"), 180, "the other server")
        return process

    other = start()
    started = client.calibrations.start(inputs[0].id, inputs[1].id, **ENDLESS)
    with Client(f"http://127.0.0.1:{port}", deployment.keys["ada"]) as far:
        found, thread = collected(far, started.id)
        wait_until(lambda: len(found) >= 2, 60, "events")
        other.send_signal(signal.SIGKILL)
        other.wait()
        before = len(found)
        time.sleep(1)
        other = start()
        wait_until(lambda: len(found) > before, 120, "events of the new server")
        client.calibrations.cancel(started.id)
        thread.join(30)
        assert not thread.is_alive()
    other.terminate()
    other.wait(timeout=30)
    assert_whole(found, client, started.id)


def test_a_server_that_stays_away_is_an_error_in_the_end(
    client: Client, deployment: Server, inputs: tuple[Dataset, Model]
) -> None:
    started = client.calibrations.start(inputs[0].id, inputs[1].id, **ENDLESS)
    with Client(f"http://127.0.0.1:{(proxy := CuttingProxy(deployment.port)).port}", deployment.keys["ada"]) as far:
        with proxy:
            watching: Any = far.calibrations.events(started.id, reconnect_timeout=1)
            assert next(watching).progress is not None
        with pytest.raises(UnreachableError):
            list(watching)
    client.calibrations.cancel(started.id)


def test_a_data_frame_is_put_in_the_order_of_the_predictor() -> None:
    about = {"id": "pred-1", "name": "", "task": "regression", "score": "residual", "members": 1, "input_shape": [2]}
    served = {"serve": "random", "certificate_id": "cert-1", "certificate_status": "consistent", "created_at": ""}
    predictor = {**about, **served, "calibration_id": "cal-1"}
    certificate = {"data": {"rows": 9, "columns": ["a", "b"]}, "options": {"clusters": "patient"}}
    busy: tuple[int, dict[str, str], Any] = (422, {}, {**BUSY, "status": 422})
    frame = pa.table({"b": [1.0, 2.0], "patient": ["u", "v"], "a": [3.0, 4.0]})
    with scripted((200, {}, predictor), (200, {}, certificate), busy) as server, Client(server.url, "key") as client:
        with pytest.raises(ApiError, match="Too many rows"):
            client.predict_set("pred-1", frame)
        assert json.loads(server.bodies[-1])["x"] == [[3.0, 1.0], [4.0, 2.0]]
    with scripted((200, {}, predictor), (200, {}, certificate)) as server, Client(server.url, "key") as client:
        with pytest.raises(DataError, match="columns that the predictor does not know: 'c'"):
            client.predict_set("pred-1", pa.table({"a": [1.0], "b": [2.0], "c": [3.0]}))
        assert len(server.asked) == 2
