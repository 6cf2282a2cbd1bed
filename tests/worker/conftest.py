"""Every test of the worker runs on the embedded default and on Redis with PostgreSQL."""

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from core.settings import Settings
from tests.servers import REDIS, missing, postgres_database
from tests.worker.deployment import Deployment

FAST = {"lease_seconds": 2.0, "sweep_seconds": 0.2, "message_seconds": 2.0, "retry_seconds": 0.1, "threads": 1}


@pytest.fixture(params=["embedded", "production"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def settings(kind: str, tmp_path: Path, worker_id: str) -> Iterator[Settings]:
    if kind == "embedded":
        yield Settings(home=tmp_path / "home", **FAST)  # type: ignore[arg-type]
        return
    # Redis has sixteen databases; each of pytest's processes uses one of its own.
    number = 1 + int(worker_id.removeprefix("gw") or 0) if worker_id != "master" else 1
    client = redis.Redis.from_url(REDIS, db=number)
    try:
        client.flushdb()
    except redis.ConnectionError:
        missing(f"No Redis at {REDIS} (CERTISET_TEST_REDIS_URL).")
    with postgres_database() as url:
        yield Settings(
            home=tmp_path / "home",
            database_url=url,
            broker_url=f"{REDIS}/{number}",
            artifacts_url=f"file://{tmp_path}/files-{uuid.uuid4().hex[:8]}",
            **FAST,  # type: ignore[arg-type]
        )
    client.flushdb()
    client.close()


@pytest.fixture
def deployment(settings: Settings, tmp_path: Path) -> Iterator[Deployment]:
    made = Deployment(settings, tmp_path / "worker.log")
    yield made
    made.close()
