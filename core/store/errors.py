"""What a database's error means: the one place where those of SQLAlchemy and the drivers become errors of certiset.

Only codes are inspected, never the text of a message. An error that is not in the tables is a bug, such as a violated
check or an unknown column, and is raised unchanged.
"""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from certiset.core.errors import (
    DatabaseBusyError,
    DatabaseReadOnlyError,
    DatabaseUnavailableError,
    DuplicateError,
    StoreError,
    StoreFullError,
)

UNAVAILABLE = "The database is unavailable: try again in a moment."
_FULL_BYTES = 2**16
"""with less than this free, a disk is full for a database, which needs some for its own files"""

_SENTENCES: dict[type[StoreError], str] = {
    DatabaseUnavailableError: UNAVAILABLE,
    DatabaseBusyError: "The database is busy: try again in a moment.",
    DuplicateError: "A record with the same unique key already exists.",
    DatabaseReadOnlyError: "The database accepts no changes at the moment (it is read-only): try again later.",
    StoreFullError: "The disk of the database has no space left: free some, then try again.",
}

_POSTGRESQL: dict[str, type[StoreError]] = {
    "08": DatabaseUnavailableError,  # the whole class: connection exceptions
    "57P01": DatabaseUnavailableError,  # the server shuts down
    "57P02": DatabaseUnavailableError,  # the server crashed
    "57P03": DatabaseUnavailableError,  # the server is starting
    "28": DatabaseUnavailableError,  # the server does not let this account in
    "25006": DatabaseReadOnlyError,  # a standby, or default_transaction_read_only
    "40001": DatabaseBusyError,  # serialization failure
    "40P01": DatabaseBusyError,  # deadlock
    "55P03": DatabaseBusyError,  # lock_timeout
    "57014": DatabaseBusyError,  # statement_timeout
    "23505": DuplicateError,  # unique violation
    "53100": StoreFullError,  # disk full
    "53": DatabaseUnavailableError,  # the rest of the class: no memory, too many connections
    "58": DatabaseUnavailableError,  # the server's own files cannot be read or written
}
"""by SQLSTATE, or the beginning of it; the first entry that fits"""

_SQLITE: dict[str, type[StoreError]] = {
    "SQLITE_CANTOPEN": DatabaseUnavailableError,
    "SQLITE_IOERR": DatabaseUnavailableError,
    "SQLITE_READONLY": DatabaseReadOnlyError,
    "SQLITE_BUSY": DatabaseBusyError,
    "SQLITE_LOCKED": DatabaseBusyError,
    "SQLITE_CONSTRAINT_UNIQUE": DuplicateError,
    "SQLITE_CONSTRAINT_PRIMARYKEY": DuplicateError,
    "SQLITE_FULL": StoreFullError,
}
"""by the name of the result code, or the beginning of it: SQLITE_BUSY_SNAPSHOT is SQLITE_BUSY"""


def store_error(error: BaseException, folder: Path | None = None) -> StoreError | None:
    """The corresponding error of certiset; None if the error is not in the tables.

    SQLite, whose file is in ``folder``, cannot even be opened on a full disk, and does not say why.
    """
    kind = _kind(error)
    if kind is DatabaseUnavailableError and folder is not None and _is_full(folder):
        kind = StoreFullError
    return None if kind is None else kind(_SENTENCES[kind])


@contextmanager
def translated_errors(folder: Path | None = None) -> Iterator[None]:
    """Raises errors of certiset in place of those in the tables; the driver's error becomes the cause."""
    try:
        yield
    except (DBAPIError, PoolTimeoutError) as error:
        translated = store_error(error, folder)
        if translated is None:
            raise
        raise translated from error


def driver_message(error: StoreError) -> str:
    """What the driver said, for logs and operators only: it may contain addresses."""
    cause = error.__cause__
    said = cause.orig if isinstance(cause, DBAPIError) and cause.orig is not None else cause or error
    return next(iter(str(said).splitlines()), "") or type(said).__name__


def _kind(error: BaseException) -> type[StoreError] | None:
    if isinstance(error, PoolTimeoutError):
        return DatabaseBusyError
    if not isinstance(error, DBAPIError):
        return None
    if error.connection_invalidated:
        return DatabaseUnavailableError
    driver = error.orig
    if isinstance(driver, sqlite3.Error):
        return _entry(_SQLITE, getattr(driver, "sqlite_errorname", None))
    code = getattr(driver, "sqlstate", None)
    if code is None and isinstance(error, OperationalError):
        # The server did not answer at all: psycopg cannot connect, or lost the connection.
        return DatabaseUnavailableError
    return _entry(_POSTGRESQL, code)


def _is_full(folder: Path) -> bool:
    try:
        return shutil.disk_usage(folder).free < _FULL_BYTES
    except OSError:
        return False


def _entry(table: dict[str, type[StoreError]], code: str | None) -> type[StoreError] | None:
    return next((kind for beginning, kind in table.items() if code is not None and code.startswith(beginning)), None)
