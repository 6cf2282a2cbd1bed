"""What the database's errors become: an outage is an outage, a duplicate a duplicate, and a bug stays a bug."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError, IntegrityError, InterfaceError, OperationalError, ProgrammingError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.pool import QueuePool

from certiset.core.errors import (
    DatabaseBusyError,
    DatabaseReadOnlyError,
    DatabaseUnavailableError,
    DuplicateError,
    StoreFullError,
    UnavailableError,
)
from certiset.core.store import Database, Store
from certiset.core.store.errors import driver_message, store_error, translated_errors
from certiset.core.store.migrate import migrate
from certiset.core.store.records import Monitor
from certiset.core.store.schema import is_current, require_current
from tests.core.store.records import a_calibration, a_dataset
from tests.disks import small_disk
from tests.servers import POSTGRES, free_port, postgres_database


def driver_error(code: str | None, kind: type[psycopg.Error] = psycopg.OperationalError) -> psycopg.Error:
    error = kind("made up")
    error.sqlstate = code
    return error


def sqlite_error(name: str, kind: type[sqlite3.Error] = sqlite3.OperationalError) -> sqlite3.Error:
    error = kind("made up")
    error.sqlite_errorname = name
    return error


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (None, DatabaseUnavailableError),
        ("08000", DatabaseUnavailableError),
        ("08006", DatabaseUnavailableError),
        ("57P01", DatabaseUnavailableError),
        ("57P02", DatabaseUnavailableError),
        ("57P03", DatabaseUnavailableError),
        ("53300", DatabaseUnavailableError),
        ("40001", DatabaseBusyError),
        ("40P01", DatabaseBusyError),
        ("55P03", DatabaseBusyError),
        ("57014", DatabaseBusyError),
        ("53100", StoreFullError),
        ("53200", DatabaseUnavailableError),
        ("28P01", DatabaseUnavailableError),
        ("58030", DatabaseUnavailableError),
        ("25006", DatabaseReadOnlyError),
        ("42703", None),
    ],
)
def test_errors_of_postgresql(code: str | None, expected: type[Exception] | None) -> None:
    found = store_error(OperationalError("select 1", {}, driver_error(code)))
    assert type(found) is (expected or type(None))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("SQLITE_CANTOPEN", DatabaseUnavailableError),
        ("SQLITE_CANTOPEN_ISDIR", DatabaseUnavailableError),
        ("SQLITE_BUSY", DatabaseBusyError),
        ("SQLITE_BUSY_SNAPSHOT", DatabaseBusyError),
        ("SQLITE_LOCKED", DatabaseBusyError),
        ("SQLITE_LOCKED_SHAREDCACHE", DatabaseBusyError),
        ("SQLITE_FULL", StoreFullError),
        ("SQLITE_IOERR_WRITE", DatabaseUnavailableError),
        ("SQLITE_READONLY_DIRECTORY", DatabaseReadOnlyError),
        ("SQLITE_CORRUPT", None),
        ("SQLITE_ERROR", None),
    ],
)
def test_errors_of_sqlite(name: str, expected: type[Exception] | None) -> None:
    found = store_error(OperationalError("select 1", {}, sqlite_error(name)))
    assert type(found) is (expected or type(None))


@pytest.mark.parametrize(
    ("driver", "expected"),
    [
        (driver_error("23505", psycopg.IntegrityError), DuplicateError),
        (driver_error("23502", psycopg.IntegrityError), None),
        (driver_error("23514", psycopg.IntegrityError), None),
        (driver_error(None, psycopg.IntegrityError), None),
        (sqlite_error("SQLITE_CONSTRAINT_UNIQUE", sqlite3.IntegrityError), DuplicateError),
        (sqlite_error("SQLITE_CONSTRAINT_PRIMARYKEY", sqlite3.IntegrityError), DuplicateError),
        (sqlite_error("SQLITE_CONSTRAINT_NOTNULL", sqlite3.IntegrityError), None),
        (sqlite_error("SQLITE_CONSTRAINT_CHECK", sqlite3.IntegrityError), None),
    ],
)
def test_an_integrity_error_is_a_duplicate_or_a_bug_and_never_an_outage(
    driver: Exception, expected: type[Exception] | None
) -> None:
    assert type(store_error(IntegrityError("insert", {}, driver))) is (expected or type(None))


@pytest.mark.parametrize("kind", [OperationalError, InterfaceError, ProgrammingError])
def test_a_connection_that_sqlalchemy_has_given_up_is_lost(kind: type[DBAPIError]) -> None:
    lost = kind("select 1", {}, driver_error(None), connection_invalidated=True)
    assert type(store_error(lost)) is DatabaseUnavailableError


def test_other_errors_pass_unchanged() -> None:
    assert store_error(ZeroDivisionError()) is None
    assert store_error(InterfaceError("select 1", {}, driver_error(None, psycopg.InterfaceError))) is None
    bug = ProgrammingError("select x", {}, driver_error("42703", psycopg.ProgrammingError))
    with pytest.raises(ProgrammingError) as caught, translated_errors():
        raise bug
    assert caught.value is bug


def test_messages_hold_no_addresses_and_the_driver_s_words_are_there_for_the_log() -> None:
    driver = psycopg.OperationalError('connection to "10.0.0.1" refused\nIs it running?')
    with pytest.raises(DatabaseUnavailableError) as caught, translated_errors():
        raise OperationalError("select 1", {}, driver)
    assert str(caught.value) == "The database is unavailable: try again in a moment."
    assert driver_message(caught.value) == 'connection to "10.0.0.1" refused'
    assert driver_message(StoreFullError("No space.")) == "No space."


def test_a_busy_pool_is_busy(tmp_path: Path) -> None:
    engine = create_engine(
        f"sqlite:///{tmp_path / 'a.db'}", poolclass=QueuePool, pool_size=1, max_overflow=0, pool_timeout=0.01
    )
    with engine.connect():
        with pytest.raises(PoolTimeoutError):
            engine.connect()
        with pytest.raises(DatabaseBusyError), translated_errors():
            engine.connect()
    engine.dispose()


def insert_twice(store: Store) -> None:
    a_dataset(store, sha256="1" * 64)
    a_dataset(store, sha256="1" * 64)


def test_a_unique_violation_is_a_duplicate(store: Store) -> None:
    with pytest.raises(DuplicateError) as caught:
        insert_twice(store)
    assert not isinstance(caught.value, UnavailableError)


def test_the_same_primary_key_is_a_duplicate(store: Store) -> None:
    made = a_dataset(store)
    with pytest.raises(DuplicateError):
        a_dataset(store, id=made.id)


def test_a_violated_check_stays_an_integrity_error(store: Store) -> None:
    calibration = a_calibration(store)
    with pytest.raises(IntegrityError), store.writing() as work:
        work.session.execute(text("update calibrations set status = 'running'"))
    with pytest.raises(IntegrityError), store.writing() as work:
        work.session.execute(text("update calibrations set name = null"))
    with store.reading() as work:
        assert work.calibrations.get("ada", calibration.id).status == "queued"


def test_a_column_that_does_not_exist_stays_an_error_of_sqlalchemy(store: Store) -> None:
    with pytest.raises(DBAPIError) as caught, store.reading() as work:
        work.session.execute(text("select nonsense from calibrations"))
    assert store_error(caught.value) is None


def rename_everything(database: Database) -> None:
    with database.writing() as session:
        if not database.is_sqlite:
            session.execute(text("set local lock_timeout = 50"))
        session.execute(text("update datasets set name = 'new'"))


def test_a_lock_that_is_not_released_is_busy(store: Store) -> None:
    a_dataset(store)
    other = Database(store.settings.database, seconds=0.2)
    with store.writing() as work:
        work.session.execute(text("update datasets set name = 'mine'"))
        with pytest.raises(DatabaseBusyError):
            rename_everything(other)
    rename_everything(other)
    other.close()


@pytest.fixture
def postgresql() -> Iterator[Database]:
    with postgres_database() as url:
        database = Database(url)
        migrate(database)
        yield database
        database.close()


def test_a_statement_over_its_time_limit_is_busy(postgresql: Database) -> None:
    with pytest.raises(DatabaseBusyError), postgresql.reading() as session:
        session.execute(text("set local statement_timeout = 20; select pg_sleep(5)"))


def test_a_serialization_failure_is_busy(postgresql: Database) -> None:
    with postgresql.writing() as session:
        session.add(Monitor(tenant="ada", predictor_id="p"))

    def both() -> None:
        with postgresql.writing() as first:
            first.execute(text("set transaction isolation level repeatable read"))
            first.execute(text("select * from monitors"))
            with postgresql.writing() as second:
                second.execute(text("update monitors set outcomes = 1"))
            first.execute(text("update monitors set outcomes = 2"))

    with pytest.raises(DatabaseBusyError):
        both()


def test_a_connection_that_the_server_ends_is_lost_and_the_next_one_works(postgresql: Database) -> None:
    def end_own_connection() -> None:
        with postgresql.writing() as session:
            pid = session.scalar(text("select pg_backend_pid()"))
            with psycopg.connect(POSTGRES, autocommit=True) as operator:
                operator.execute("select pg_terminate_backend(%s)", [pid])
            session.execute(text("select 1"))

    with pytest.raises(DatabaseUnavailableError):
        end_own_connection()
    postgresql.ping()


@pytest.fixture(params=["refused", "no such database", "no such folder"])
def unreachable(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """Made while all was well: the folder is gone, or nothing listens."""
    if request.param == "no such folder":
        database = Database(f"sqlite:///{tmp_path / 'gone' / 'a.db'}")
        (tmp_path / "gone").rmdir()
    elif request.param == "refused":
        database = Database(f"postgresql://postgres@127.0.0.1:{free_port()}/postgres")
    else:
        database = Database(POSTGRES.rsplit("/", 1)[0] + "/certiset_no_such_database")
    yield database
    database.close()


def test_a_database_that_cannot_be_reached_is_unavailable_wherever_it_is_used(unreachable: Database) -> None:
    def read() -> None:
        with unreachable.reading() as session:
            session.execute(text("select 1"))

    def write() -> None:
        with unreachable.writing() as session:
            session.execute(text("select 1"))

    steps = (
        read,
        write,
        unreachable.ping,
        *(lambda f=f: f(unreachable) for f in (is_current, require_current, migrate)),
    )
    for step in steps:
        with pytest.raises(DatabaseUnavailableError, match="The database is unavailable"):
            step()


def test_a_full_disk_is_said_to_be_full(tmp_path: Path) -> None:
    with small_disk(tmp_path) as disk, closing(Database(f"sqlite:///{disk / 'a.db'}")) as database:
        with database.writing() as session:
            session.execute(text("create table t (a text)"))
        with pytest.raises(StoreFullError, match="no space left"), database.writing() as session:
            session.execute(text("insert into t values (:a)"), [{"a": "x" * 10_000}] * 200)
        with database.writing() as session:
            assert session.scalar(text("select count(*) from t")) == 0
