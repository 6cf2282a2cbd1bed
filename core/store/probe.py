"""A look at a database from outside: whether it can be written, and what time it is there."""

from sqlalchemy import select, text

from certiset.core.store.clock import now
from certiset.core.store.database import Database


def write_and_ask_time(database: Database) -> float:
    """Writes what is already there; returns the database's time, in seconds since 1970."""
    with database.connection(writing=True) as connection:
        connection.execute(text("update alembic_version set version_num = version_num"))
        return float(connection.execute(select(now())).scalar_one())
