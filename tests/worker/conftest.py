"""Every test of the worker runs on the embedded default and on Redis with PostgreSQL."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import redis

from certiset.core.settings import Settings
from tests.core.store.conftest import template
from tests.servers import REDIS, PrivateRedis, missing, postgres_database
from tests.worker.deployment import FAST, Deployment

__all__ = ["template"]

KINDS = ["embedded", "production"]


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def settings(kind: str, tmp_path: Path, worker_id: str, request: pytest.FixtureRequest) -> Iterator[Settings]:
    if kind == "embedded":
        yield Settings(home=tmp_path / "home", **FAST)
        return
    # Redis has sixteen databases; each of pytest's processes uses one of its own.
    number = 1 + int(worker_id.removeprefix("gw") or 0) if worker_id != "master" else 1
    client = redis.Redis.from_url(REDIS, db=number)
    try:
        client.flushdb()
    except redis.ConnectionError:
        missing(f"No Redis at {REDIS} (CERTISET_TEST_REDIS_URL).")
    with production(tmp_path, f"{REDIS}/{number}", request.getfixturevalue("template")) as made:
        yield made
    client.flushdb()
    client.close()


@contextmanager
def production(folder: Path, broker_url: str, template: str) -> Iterator[Settings]:
    """With a new database on the machine's PostgreSQL."""
    with postgres_database(template) as url:
        yield Settings(
            home=folder / "home",
            database_url=url,
            broker_url=broker_url,
            artifacts_url=f"file://{folder}/files-{uuid.uuid4().hex[:8]}",
            **FAST,
        )


@pytest.fixture
def deployment(settings: Settings, tmp_path: Path) -> Iterator[Deployment]:
    made = Deployment(settings, tmp_path / "worker.log")
    yield made
    made.close()


@pytest.fixture(scope="session", params=KINDS)
def started(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """With one worker that runs already. Loading PyTorch takes seconds, and most tests can do without a new worker."""
    folder = tmp_path_factory.mktemp(str(request.param))
    if request.param == "embedded":
        yield from _with_worker(Settings(home=folder / "home", **FAST), folder)
        return
    template = request.getfixturevalue("template")
    with PrivateRedis.running() as own_redis, production(folder, own_redis.url, template) as settings:
        yield from _with_worker(settings, folder)


def _with_worker(settings: Settings, folder: Path) -> Iterator[Deployment]:
    made = Deployment(settings, folder / "worker.log")
    made.start_worker()
    yield made
    made.close()


@pytest.fixture
def running(started: Deployment) -> Iterator[Deployment]:
    """The same for one test, which leaves it no unfinished work behind."""
    yield started
    started.cancel_everything()
    assert started.workers[0].poll() is None, started.log.read_text()[-3000:]
