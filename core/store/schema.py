"""Which revision a database's schema has, and whether it is the one that this version was written for."""

from sqlalchemy import Connection, inspect, text

from core.errors import StoreError
from core.store.database import Database

SCHEMA = "0003"
"""the newest revision of `core.store.migrations`; revisions are numbered in their order"""


def revision_of(connection: Connection) -> str | None:
    """None for a database that was never migrated."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    found: str | None = connection.execute(text("select version_num from alembic_version")).scalar()
    return found


def is_current(database: Database) -> bool:
    with database.engine.connect() as connection:
        return revision_of(connection) == SCHEMA


def require_current(database: Database) -> None:
    """Raises with what to do if the schema is an older or a newer one."""
    with database.engine.connect() as connection:
        found = revision_of(connection)
    if found is None:
        raise StoreError("The database is empty: run 'certiset migrate' first.")
    refuse_newer(found)
    if found != SCHEMA:
        raise StoreError(f"The database is at revision {found}, not {SCHEMA}: run 'certiset migrate' first.")


def refuse_newer(revision: str) -> None:
    if revision > SCHEMA:
        raise StoreError(f"The database is at revision {revision}, which a newer certiset made: install that version.")
