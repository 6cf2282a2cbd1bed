"""Brings a database to the schema of this version, safely when several processes start at once."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from core.errors import StoreError
from core.store.database import Database

_LOCK = 7_220_158


def migrate(database: Database) -> tuple[str | None, str]:
    """Upgrades to the newest revision and returns the old and the new one; all steps in one transaction."""
    with database.writing_engine.begin() as connection:
        if not database.is_sqlite:
            connection.execute(text("set local statement_timeout = 0; set local lock_timeout = 0"))
            connection.execute(text("select pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        before = _revision(connection)
        if before is not None and before not in _known():
            raise _newer(before)
        config = _config()
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        return before, head()


def require_current(database: Database) -> None:
    """Raises with what to do if the database's schema is not the one that this version was written for."""
    with database.engine.connect() as connection:
        found = _revision(connection)
    if found is None:
        raise StoreError("The database is empty: run 'certiset migrate' first.")
    if found != head():
        if found in _known():
            raise StoreError(f"The database is at revision {found}, not {head()}: run 'certiset migrate' first.")
        raise _newer(found)


def head() -> str:
    revision = ScriptDirectory.from_config(_config()).get_current_head()
    assert revision is not None
    return revision


def _known() -> set[str]:
    return {script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions()}


def _newer(revision: str) -> StoreError:
    return StoreError(f"The database is at revision {revision}, which a newer certiset made: install that version.")


def _revision(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config
