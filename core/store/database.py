"""The engine and its transactions, on SQLite and PostgreSQL alike."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, NoSuchModuleError
from sqlalchemy.orm import Session

from certiset.core.errors import SettingsError
from certiset.core.store.errors import translated_errors

_BUSY_MILLISECONDS = 10_000
_IMMEDIATE = "certiset_immediate"


class Database:
    """Connects on first use. `reading` and `writing` are the only ways to a session; each is one transaction.

    A lost connection, a lock that is not released, a duplicate and a full disk are raised as errors of certiset
    (`certiset.core.store.errors`), and no SQLAlchemy error needs to be caught anywhere else.
    """

    def __init__(self, url: str) -> None:
        try:
            parsed = make_url(url)
        except ArgumentError:
            raise SettingsError("the database URL is not one that SQLAlchemy can read.") from None
        if parsed.drivername in ("postgresql", "postgres"):
            parsed = parsed.set(drivername="postgresql+psycopg")
        self.is_sqlite = parsed.get_backend_name() == "sqlite"
        if not self.is_sqlite and parsed.get_backend_name() != "postgresql":
            raise SettingsError(f"the database must be SQLite or PostgreSQL, not {parsed.get_backend_name()}.")
        if self.is_sqlite and parsed.database:
            # The folder holds data and keys: readable by its owner only.
            Path(parsed.database).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            self.engine = _engine(parsed, self.is_sqlite)
        except (NoSuchModuleError, ModuleNotFoundError) as error:
            raise SettingsError(f"the database URL names a driver that is not installed: {error}.") from None

    @property
    def writing_engine(self) -> Engine:
        """The same connections; transactions declare from the start that they will write."""
        return self.engine.execution_options(**{_IMMEDIATE: True})

    @contextmanager
    def reading(self) -> Iterator[Session]:
        with translated_errors(), Session(self.engine, expire_on_commit=False) as session:
            yield session

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """Commits once, at the end; rolls back on any error."""
        with (
            translated_errors(),
            Session(self.writing_engine, expire_on_commit=False) as session,
            session.begin(),
        ):
            yield session

    @contextmanager
    def connection(self, *, writing: bool = False) -> Iterator[Connection]:
        """Below the sessions, for the schema and its migrations: one transaction, committed at the end."""
        with translated_errors(), (self.writing_engine if writing else self.engine).begin() as connection:
            yield connection

    def ping(self) -> None:
        with self.connection() as connection:
            connection.execute(text("select 1"))

    def close(self) -> None:
        self.engine.dispose()


def _engine(url: Any, is_sqlite: bool) -> Engine:
    if not is_sqlite:
        # A connection that died with the server is noticed before it is used; one that hangs, within seconds.
        time_limits = {
            "connect_timeout": 5,
            "keepalives_idle": 10,
            "keepalives_interval": 5,
            "tcp_user_timeout": 10_000,
            "options": "-c statement_timeout=20000 -c lock_timeout=10000",
        }
        return create_engine(url, pool_pre_ping=True, connect_args=time_limits, hide_parameters=True)
    engine = create_engine(url, connect_args={"check_same_thread": False}, hide_parameters=True)

    @event.listens_for(engine, "connect")
    def _connected(connection: Any, _: Any) -> None:
        # The driver's own BEGIN comes too late for a snapshot; ours is in _begun.
        connection.isolation_level = None
        cursor = connection.cursor()
        cursor.execute(f"pragma busy_timeout = {_BUSY_MILLISECONDS}")
        _use_wal(cursor)
        cursor.execute("pragma synchronous = full")
        cursor.close()

    @event.listens_for(engine, "begin")
    def _begun(connection: Connection) -> None:
        # A transaction that starts as a reader can be refused when it writes; one that declares it at once only waits.
        immediate = connection.get_execution_options().get(_IMMEDIATE)
        connection.exec_driver_sql("begin immediate" if immediate else "begin")

    return engine


def _use_wal(cursor: Any) -> None:
    """Switching a new database to WAL fails at once, whatever the busy timeout, while another process does the same."""
    deadline = time.monotonic() + _BUSY_MILLISECONDS / 1000
    while True:
        try:
            cursor.execute("pragma journal_mode = wal")
            return
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
