"""The engine and its transactions, on SQLite and PostgreSQL alike."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, NoSuchModuleError
from sqlalchemy.orm import Session

from core.errors import SettingsError

_BUSY_MILLISECONDS = 10_000
_IMMEDIATE = "certiset_immediate"


class Database:
    """Connects on first use. `reading` and `writing` are the only ways to a session; each is one transaction."""

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
            # Data and keys lie there: nobody else's business.
            Path(parsed.database).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            self.engine = _engine(parsed, self.is_sqlite)
        except (NoSuchModuleError, ModuleNotFoundError) as error:
            raise SettingsError(f"the database URL names a driver that is not installed: {error}.") from None

    @property
    def writing_engine(self) -> Engine:
        """The same connections; transactions say from the start that they will write."""
        return self.engine.execution_options(**{_IMMEDIATE: True})

    @contextmanager
    def reading(self) -> Iterator[Session]:
        with Session(self.engine, expire_on_commit=False) as session:
            yield session

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """Commits once, at the end; rolls back on any error."""
        with Session(self.writing_engine, expire_on_commit=False) as session, session.begin():
            yield session

    def ping(self) -> None:
        with self.engine.connect() as connection:
            connection.execute(text("select 1"))

    def close(self) -> None:
        self.engine.dispose()


def _engine(url: Any, is_sqlite: bool) -> Engine:
    if not is_sqlite:
        # A connection that died with the server is noticed before it is used; one that hangs, within seconds.
        patience = {
            "connect_timeout": 5,
            "keepalives_idle": 10,
            "keepalives_interval": 5,
            "tcp_user_timeout": 10_000,
            "options": "-c statement_timeout=20000 -c lock_timeout=10000",
        }
        return create_engine(url, pool_pre_ping=True, connect_args=patience, hide_parameters=True)
    engine = create_engine(url, connect_args={"check_same_thread": False}, hide_parameters=True)

    @event.listens_for(engine, "connect")
    def _connected(connection: Any, _: Any) -> None:
        # The driver's own BEGIN comes too late for a snapshot; ours is in _begun.
        connection.isolation_level = None
        cursor = connection.cursor()
        cursor.execute(f"pragma busy_timeout = {_BUSY_MILLISECONDS}")
        cursor.execute("pragma journal_mode = wal")
        cursor.execute("pragma synchronous = full")
        cursor.close()

    @event.listens_for(engine, "begin")
    def _begun(connection: Connection) -> None:
        # A writer that begins as a reader can be refused half way; one that says so at once only waits.
        immediate = connection.get_execution_options().get(_IMMEDIATE)
        connection.exec_driver_sql("begin immediate" if immediate else "begin")

    return engine
