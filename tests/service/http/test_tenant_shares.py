"""What one tenant sends keeps no other tenant waiting: over real HTTP, with an attacker beside a victim."""

import contextlib
import io
import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest

from certiset.core.fit import fit
from certiset.core.store import Store
from tests.core.fit.problems import QUICK, class_data, class_model
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
