"""A database that is stopped, frozen, read-only or on a full disk: every answer comes in time and says which it is."""

import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from certiset.core.errors import DatabaseReadOnlyError, DatabaseUnavailableError, StoreFullError, UnavailableError
from certiset.core.store import Database
from certiset.core.store.breaker import Breaker
from certiset.core.store.migrate import migrate
from tests.disks import fill, small_disk
from tests.servers import PrivatePostgres

SECONDS = 1.0


@pytest.fixture(scope="module")
def server() -> Iterator[PrivatePostgres]:
    with PrivatePostgres.running() as made:
        yield made


@pytest.fixture
def database(server: PrivatePostgres) -> Iterator[Database]:
    made = Database(server.url, SECONDS)
    migrate(made)
    yield made
    made.close()


def read(database: Database) -> None:
    with database.reading() as session:
        session.execute(text("select 1"))


def outcome(database: Database) -> tuple[float, type[Exception] | None]:
    begin = time.monotonic()
    try:
        read(database)
    except UnavailableError as error:
        return time.monotonic() - begin, type(error)
    return time.monotonic() - begin, None


def test_a_frozen_server_costs_one_caller_the_time_limit_and_the_others_nothing(
    server: PrivatePostgres, database: Database
) -> None:
    read(database)
    server.pause()
    try:
        took, kind = outcome(database)
        assert kind is DatabaseUnavailableError
        # Not twice: a new connection is not tried after the old one has proved dead.
        assert SECONDS * 0.8 < took < SECONDS * 2
        took, kind = outcome(database)
        assert (took < 0.2, kind) == (True, DatabaseUnavailableError)
    finally:
        server.resume()
    time.sleep(1.1)
    assert [outcome(database)[1] for _ in range(3)] == [None] * 3


def test_many_callers_of_a_frozen_server_all_come_back(server: PrivatePostgres, database: Database) -> None:
    read(database)
    server.pause()
    found: list[tuple[float, type[Exception] | None]] = []
    try:
        callers = [threading.Thread(target=lambda: found.append(outcome(database))) for _ in range(40)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join(20)
    finally:
        server.resume()
    assert len(found) == 40
    assert all(kind is not None and issubclass(kind, UnavailableError) for _, kind in found)
    # Some connect, which libpq grants two seconds at least, and some wait for a connection first.
    assert max(took for took, _ in found) < 6


def test_a_frozen_server_is_noticed_in_the_middle_of_a_transaction(server: PrivatePostgres, database: Database) -> None:
    def freeze_in_between() -> None:
        with database.writing() as session:
            session.execute(text("select 1"))
            server.pause()
            session.execute(text("select 1"))

    try:
        with pytest.raises(DatabaseUnavailableError):
            freeze_in_between()
    finally:
        server.resume()


def test_a_migration_may_take_longer_than_the_limit(database: Database) -> None:
    from certiset.core.store.postgresql import wait_without_limit  # noqa: PLC0415

    with database.connection(writing=True) as connection:
        wait_without_limit(connection)
        connection.execute(text("set local statement_timeout = 0"))
        connection.execute(text("select pg_sleep(1.5)"))
    # The limit is back with the next transaction.
    begin = time.monotonic()
    with pytest.raises(UnavailableError), database.reading() as session:
        session.execute(text("set local statement_timeout = 0; select pg_sleep(30)"))
    assert time.monotonic() - begin < 10


def test_a_server_that_was_stopped_is_found_again_at_once(server: PrivatePostgres, database: Database) -> None:
    read(database)
    server.stop()
    try:
        for _ in range(3):
            took, kind = outcome(database)
            assert (took < 1, kind) == (True, DatabaseUnavailableError)
    finally:
        server.start()
    read(database)


def test_a_read_only_server_can_be_read_and_says_what_it_is(server: PrivatePostgres, database: Database) -> None:
    server.set("default_transaction_read_only", "on")
    try:
        database.close()
        read(database)
        with pytest.raises(DatabaseReadOnlyError, match="The database accepts no changes"):
            database.ping()
    finally:
        server.set("default_transaction_read_only", "off")
    database.close()
    database.ping()


def test_a_database_on_a_full_disk_names_the_disk(tmp_path: Path) -> None:
    with small_disk(tmp_path) as disk, closing(Database(f"sqlite:///{disk / 'a.db'}", SECONDS)) as database:
        migrate(database)
        database.close()
        fill(disk / "filler")
        # SQLite has to make files of its own before it can even read.
        with pytest.raises(StoreFullError, match="The disk of the database has no space left"):
            read(database)
        with pytest.raises(StoreFullError, match="The disk of the database has no space left"):
            database.ping()
        (disk / "filler").unlink()
        database.ping()


def test_a_database_on_a_read_only_disk_is_read_only(tmp_path: Path) -> None:
    with small_disk(tmp_path, 4) as disk, closing(Database(f"sqlite:///{disk / 'a.db'}", SECONDS)) as database:
        migrate(database)
        database.close()
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        with pytest.raises((DatabaseReadOnlyError, DatabaseUnavailableError)):
            database.ping()


def test_a_breaker_lets_one_try_each_second_until_it_is_mended(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    breaker = Breaker()
    assert not breaker.refuses()
    breaker.trip()
    assert breaker.refuses()
    now[0] += 1.0
    assert [breaker.refuses() for _ in range(3)] == [False, True, True]
    now[0] += 1.0
    assert not breaker.refuses()
    breaker.mend()
    assert [breaker.refuses() for _ in range(3)] == [False] * 3
