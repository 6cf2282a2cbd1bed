"""Databases with this version's schema: copies of one that was migrated once, since migrating takes much longer."""

import atexit
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from sqlalchemy import make_url

from certiset.core.settings import Settings
from certiset.core.store import Store
from certiset.core.store.database import Database
from certiset.core.store.migrate import migrate
from tests.servers import postgres_database


def create_sqlite(settings: Settings) -> None:
    """The database of a deployment, unless there is one."""
    named = make_url(settings.database).database
    assert named is not None
    file = Path(named)
    if not file.exists():
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        shutil.copy(_migrated_file(), file)


def new_store(settings: Settings) -> Store:
    """On an embedded database."""
    create_sqlite(settings)
    return Store(settings)


@contextmanager
def postgres_template() -> Iterator[str]:
    """The name of a database that `postgres_database` can copy."""
    with postgres_database() as url:
        _migrate(url)
        yield str(make_url(url).database)


@cache
def _migrated_file() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="certiset-schema-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    file = folder / "migrated.db"
    _migrate(f"sqlite:///{file}")
    return file


def _migrate(url: str) -> None:
    database = Database(url)
    migrate(database)
    database.close()
