"""What callers get while the database is frozen, stopped or read-only: sets from memory, and problems that say why."""

import io
import time
from collections.abc import Iterator

import httpx
import numpy as np
import pytest

from certiset.core.store import Database
from certiset.core.store.migrate import migrate
from tests.core.fit.problems import class_data
from tests.servers import PrivatePostgres, PrivateRedis, wait_until
from tests.service.server import Server, start_server

SECONDS = 2.0
"""that a call of the database may take"""
UNDELAYED = 0.9 * SECONDS
"""less than what waits for the database, and more than a busy machine holds up a set"""
FORGOTTEN = 5.5
"""seconds after which a key is looked up again"""


@pytest.fixture(scope="module")
def postgres() -> Iterator[PrivatePostgres]:
    with PrivatePostgres.running() as server:
        yield server


@pytest.fixture(scope="module")
def broker() -> Iterator[PrivateRedis]:
    with PrivateRedis.running() as server:
        yield server


@pytest.fixture(scope="module")
def server(
    postgres: PrivatePostgres, broker: PrivateRedis, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    database = Database(postgres.url)
    migrate(database)
    database.close()
    made = start_server(
        tmp_path_factory.mktemp("service"),
        database_url=postgres.url,
        database_seconds=SECONDS,
        broker_url=broker.url,
        wrong_keys=5,
    )
    yield made
    made.stop()


@pytest.fixture
def ada(server: Server) -> Iterator[httpx.Client]:
    """Whose key and predictor are known to the server."""
    with server.client() as client:
        wait_until(lambda: predict(server, client)[1].status_code == 200, 60, "the server to recover")
        yield client


def timed(client: httpx.Client, method: str, path: str, **options: object) -> tuple[float, httpx.Response]:
    begin = time.monotonic()
    answer = client.request(method, path, **options)  # type: ignore[arg-type]
    return time.monotonic() - begin, answer


def predict(server: Server, client: httpx.Client) -> tuple[float, httpx.Response]:
    return timed(client, "GET", "/predict_set", params={"predictor": server.id("regression"), "x": "0.1"})


def assert_unavailable(answer: httpx.Response, code: str = "database_unavailable") -> None:
    assert answer.status_code == 503, answer.text
    assert answer.json()["code"] == code
    assert "database" in answer.json()["detail"]
    assert int(answer.headers["retry-after"]) >= 1


def serve_for_a_while(server: Server, client: httpx.Client) -> list[float]:
    times = []
    end = time.monotonic() + FORGOTTEN + 2.5
    while time.monotonic() < end:
        took, answer = predict(server, client)
        assert answer.status_code == 200, answer.text
        times.append(took)
        time.sleep(0.05)
    return times


def test_a_frozen_database_stops_no_sets_and_hangs_nobody(
    server: Server, postgres: PrivatePostgres, ada: httpx.Client
) -> None:
    postgres.pause()
    try:
        times = serve_for_a_while(server, ada)
        assert max(times) < UNDELAYED
        for method, path in (("GET", "/predictors"), ("GET", "/usage"), ("GET", "/calibrations/cal-1")):
            took, answer = timed(ada, method, path)
            assert_unavailable(answer)
            assert took < 3 * SECONDS
        with server.client("eve") as eve:
            # Never seen by this process: neither right nor wrong as far as it can know.
            took, answer = timed(eve, "GET", "/predictors")
            assert_unavailable(answer)
            assert took < 3 * SECONDS
        took, answer = timed(ada, "GET", "/readyz")
        assert took < 4
        assert (answer.status_code, answer.json()["ready"]) == (200, True)
        assert answer.json()["database"] == "unavailable"
        assert {answer.json()[part] for part in ("broker", "artifacts", "disk")} == {"ok"}
        assert timed(ada, "GET", "/healthz")[0] < 0.5
    finally:
        postgres.resume()
    wait_until(lambda: ada.get("/predictors").status_code == 200, 60, "the database")
    wait_until(lambda: ada.get("/readyz").json()["database"] == "ok", 60, "the database")


def test_a_stopped_database_is_named_and_sets_go_on(
    server: Server, postgres: PrivatePostgres, ada: httpx.Client
) -> None:
    postgres.stop()
    try:
        assert max(serve_for_a_while(server, ada)) < UNDELAYED
        assert_unavailable(ada.get("/predictors"))
        assert_unavailable(ada.get("/predict_set", params={"predictor": server.id("classification"), "x": "0.1,0.2"}))
        with server.client("eve") as eve:
            assert_unavailable(eve.get("/predictors"))
        assert ada.get("/readyz").json()["database"] == "unavailable"
    finally:
        postgres.start()
    wait_until(lambda: ada.get("/predictors").status_code == 200, 60, "the database")


def test_a_read_only_database_is_read_and_says_so(server: Server, postgres: PrivatePostgres, ada: httpx.Client) -> None:
    postgres.set("default_transaction_read_only", "on")
    try:
        assert ada.get("/predictors").status_code == 200
        assert predict(server, ada)[1].status_code == 200
        file = {"file": ("a.csv", b"a,y\n" + b"1,2\n2,3\n" * 30)}
        assert_unavailable(ada.post("/datasets", files=file), "database_read_only")
        time.sleep(1.1)
        answer = ada.get("/readyz")
        assert (answer.status_code, answer.json()["database"]) == (200, "read-only")
    finally:
        postgres.set("default_transaction_read_only", "off")
    assert ada.post("/datasets", files=file).status_code == 201


@pytest.mark.parametrize("how", ["stopped", "frozen"])
def test_without_the_broker_sets_are_served_and_calibrations_queued(
    server: Server, broker: PrivateRedis, ada: httpx.Client, how: str
) -> None:
    broker.stop() if how == "stopped" else broker.pause()
    try:
        time.sleep(1.1)
        took, answer = timed(ada, "GET", "/readyz")
        assert took < 4
        assert (answer.status_code, answer.json()["ready"], answer.json()["broker"]) == (200, True, "unavailable")
        assert {answer.json()[part] for part in ("database", "artifacts", "disk")} == {"ok"}
        assert predict(server, ada)[1].status_code == 200
        x, y = class_data(200, 1)
        stream = io.BytesIO()
        np.savez(stream, x=x, y=y)
        dataset = ada.post("/datasets", files={"file": ("data.npz", stream.getvalue())}).json()["id"]
        asked = {"dataset_id": dataset, "model_id": server.calibrations["classification"].model_id}
        took, queued = timed(ada, "POST", "/calibrations", json=asked)
        assert queued.status_code == 202, queued.text
        assert took < 20
        assert ada.post(f"{queued.headers['location']}/cancel").json()["status"] == "cancelled"
    finally:
        broker.start() if how == "stopped" else broker.resume()
    wait_until(lambda: ada.get("/readyz").json()["broker"] == "ok", 60, "the broker")


def test_health_answers_head(server: Server) -> None:
    with server.client(None) as nobody:
        for path in ("/healthz", "/readyz", "/v2/health/live", "/v2/health/ready"):
            answer = nobody.head(path)
            assert (answer.status_code, answer.content) == (200, b"")


def test_wrong_keys_are_limited_and_right_ones_are_not(server: Server, ada: httpx.Client) -> None:
    with httpx.Client(base_url=server.url) as stranger:
        answers = [stranger.get("/predictors", headers={"X-API-Key": f"cs_{n}"}) for n in range(8)]
    assert [answer.status_code for answer in answers] == [401] * 5 + [429] * 3
    assert answers[-1].json()["detail"].startswith("Too many wrong API keys: try again in ")
    assert 0 < int(answers[-1].headers["retry-after"]) <= 60
    assert ada.get("/predictors").status_code == 200
    with server.client("writer") as writer:
        # Not yet known here: looked up, and let in.
        assert writer.get("/predictors").status_code == 200
