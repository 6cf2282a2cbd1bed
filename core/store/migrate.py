"""Brings a database to the schema of this version, safely when several processes start at once."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import text

from certiset.core.store.database import Database
from certiset.core.store.schema import SCHEMA, refuse_newer, revision_of

_LOCK = 7_220_158


def migrate(database: Database) -> tuple[str | None, str]:
    """Upgrades to the newest revision and returns the old and the new one; all steps in one transaction."""
    with database.connection(writing=True) as connection:
        if not database.is_sqlite:
            from certiset.core.store.postgresql import wait_without_limit  # noqa: PLC0415 (the driver may not be installed)

            wait_without_limit(connection)
            connection.execute(text("set local statement_timeout = 0; set local lock_timeout = 0"))
            connection.execute(text("select pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        before = revision_of(connection)
        if before is not None:
            refuse_newer(before)
        config = alembic_config()
        config.attributes["connection"] = connection
        command.upgrade(config, SCHEMA)
        return before, SCHEMA


def alembic_config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config
