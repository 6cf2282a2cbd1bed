"""The engine and its transactions, on SQLite and PostgreSQL alike."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, NoSuchModuleError
from sqlalchemy.orm import Session

from certiset.core.errors import DatabaseUnavailableError, SettingsError
from certiset.core.store.breaker import Breaker
from certiset.core.store.errors import UNAVAILABLE, translated_errors

_SECONDS = 5.0
_IMMEDIATE = "certiset_immediate"


class Database:
    """Connects on first use. `reading` and `writing` are the only ways to a session; each is one transaction.

    A lost connection, a lock that is not released, a duplicate and a full disk are raised as errors of certiset
    (`certiset.core.store.errors`), and no SQLAlchemy error needs to be caught anywhere else. Nobody waits longer than
    ``seconds`` for an answer; after a time-out, most callers are refused at once (`certiset.core.store.breaker`).
    """

    def __init__(self, url: str, seconds: float = _SECONDS) -> None:
        try:
            parsed = make_url(url)
        except ArgumentError:
            raise SettingsError(
                "the database URL cannot be read: it must look like postgresql://user:password@host:5432/name."
            ) from None
        if parsed.drivername in ("postgresql", "postgres"):
            parsed = parsed.set(drivername="postgresql+psycopg")
        self.is_sqlite = parsed.get_backend_name() == "sqlite"
        if not self.is_sqlite and parsed.get_backend_name() != "postgresql":
            raise SettingsError(f"the database must be SQLite or PostgreSQL, not {parsed.get_backend_name()}.")
        self._folder: Path | None = None
        if self.is_sqlite and parsed.database:
            self._folder = Path(parsed.database).parent
            # The folder holds data and keys: readable by its owner only.
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._breaker = Breaker()
        try:
            self.engine = _engine(parsed, seconds, self._breaker)
        except (NoSuchModuleError, ModuleNotFoundError) as error:
            raise SettingsError(f"the database URL names a driver that is not installed: {error}.") from None

    @property
    def writing_engine(self) -> Engine:
        """The same connections; transactions declare from the start that they will write."""
        return self.engine.execution_options(**{_IMMEDIATE: True})

    @contextmanager
    def reading(self) -> Iterator[Session]:
        with self._asked(), Session(self.engine, expire_on_commit=False) as session:
            yield session

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """Commits once, at the end; rolls back on any error."""
        with (
            self._asked(),
            Session(self.writing_engine, expire_on_commit=False) as session,
            session.begin(),
        ):
            yield session

    @contextmanager
    def connection(self, *, writing: bool = False) -> Iterator[Connection]:
        """Below the sessions, for the schema and its migrations: one transaction, committed at the end."""
        with self._asked(), (self.writing_engine if writing else self.engine).begin() as connection:
            yield connection

    def ping(self) -> None:
        """Raises unless the database can be written."""
        with self.connection(writing=True) as connection:
            connection.execute(text("update alembic_version set version_num = version_num"))

    @contextmanager
    def _asked(self) -> Iterator[None]:
        if self._breaker.refuses():
            raise DatabaseUnavailableError(UNAVAILABLE)
        with translated_errors(self._folder):
            yield
        self._breaker.mend()

    def close(self) -> None:
        self.engine.dispose()


def _engine(url: URL, seconds: float, breaker: Breaker) -> Engine:
    if url.get_backend_name() != "sqlite":
        from certiset.core.store.postgresql import postgresql_engine  # noqa: PLC0415 (the driver may not be installed)

        return postgresql_engine(url, seconds, breaker)
    engine = create_engine(url, pool_timeout=seconds, connect_args={"check_same_thread": False}, hide_parameters=True)

    @event.listens_for(engine, "connect")
    def _connected(connection: Any, _: Any) -> None:
        # The driver's own BEGIN comes too late for a snapshot; ours is in _begun.
        connection.isolation_level = None
        cursor = connection.cursor()
        cursor.execute(f"pragma busy_timeout = {max(1, int(1000 * seconds))}")
        _use_wal(cursor, seconds)
        cursor.execute("pragma synchronous = full")
        cursor.close()
        # SQLite's own knows only the letters of ASCII, and a search is to find names in any case.
        connection.create_function("lower", 1, _lower, deterministic=True)

    @event.listens_for(engine, "begin")
    def _begun(connection: Connection) -> None:
        # A transaction that starts as a reader can be refused when it writes; one that declares it at once only waits.
        immediate = connection.get_execution_options().get(_IMMEDIATE)
        connection.exec_driver_sql("begin immediate" if immediate else "begin")

    return engine


def _lower(text: str | None) -> str | None:
    return None if text is None else text.lower()


def _use_wal(cursor: Any, seconds: float) -> None:
    """Switching a new database to WAL fails at once, whatever the busy timeout, while another process does the same."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            cursor.execute("pragma journal_mode = wal")
            return
        except sqlite3.OperationalError as error:
            is_busy = error.sqlite_errorname.startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))
            if not is_busy or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
