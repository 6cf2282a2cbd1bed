"""Every test of the store runs on SQLite and on PostgreSQL."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from certiset.core.settings import Settings
from certiset.core.store import Store
from certiset.core.store.migrate import migrate
from tests.servers import postgres_database


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """An empty database."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'test.db'}"
        return
    with postgres_database() as url:
        yield url


@pytest.fixture
def store(database_url: str, tmp_path: Path) -> Iterator[Store]:
    opened = Store(Settings(home=tmp_path, database_url=database_url, lease_seconds=30, retry_seconds=100))
    migrate(opened.database)
    yield opened
    opened.close()
