"""Every test of the store runs on SQLite and on PostgreSQL."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from certiset.core.settings import Settings
from certiset.core.store import Store
from tests.databases import create_sqlite, postgres_template
from tests.servers import postgres_database


@pytest.fixture(params=["sqlite", "postgresql"])
def database_kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def database_url(database_kind: str, tmp_path: Path) -> Iterator[str]:
    """An empty database."""
    if database_kind == "sqlite":
        yield f"sqlite:///{tmp_path / 'test.db'}"
        return
    with postgres_database() as url:
        yield url


@pytest.fixture(scope="session")
def template() -> Iterator[str]:
    """A database of PostgreSQL's with the schema, to be copied."""
    with postgres_template() as name:
        yield name


@pytest.fixture
def store(database_kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if database_kind == "sqlite":
        settings = _settings(tmp_path, f"sqlite:///{tmp_path / 'test.db'}")
        create_sqlite(settings)
        yield from _opened(settings)
        return
    with postgres_database(request.getfixturevalue("template")) as url:
        yield from _opened(_settings(tmp_path, url))


def _settings(home: Path, database_url: str) -> Settings:
    return Settings(home=home, database_url=database_url, lease_seconds=30, retry_seconds=100)


def _opened(settings: Settings) -> Iterator[Store]:
    made = Store(settings)
    yield made
    made.close()
