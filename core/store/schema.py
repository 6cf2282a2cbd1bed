"""The revision of a database's schema, and whether it is the one that this version needs."""

from sqlalchemy import Connection, inspect, text

from certiset.core.errors import StoreError
from certiset.core.store.database import Database

SCHEMA = "0021"
"""the newest revision of `certiset.core.store.migrations`; revisions are numbered in their order"""


def revision_of(connection: Connection) -> str | None:
    """None for a database that was never migrated."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    found: str | None = connection.execute(text("select version_num from alembic_version")).scalar()
    return found


def is_current(database: Database) -> bool:
    with database.connection() as connection:
        return revision_of(connection) == SCHEMA


def require_current(database: Database) -> None:
    """Raises an error that says what to do if the schema is older or newer."""
    with database.connection() as connection:
        found = revision_of(connection)
    if found is None:
        raise StoreError("The database is empty: run 'certiset migrate' first.")
    refuse_newer(found)
    if found != SCHEMA:
        raise StoreError(f"The database is at revision {found}, not {SCHEMA}: run 'certiset migrate' first.")


def refuse_newer(revision: str) -> None:
    if revision > SCHEMA:
        raise StoreError(
            f"The database is at revision {revision}, which a newer version of certiset created: install that version."
        )
