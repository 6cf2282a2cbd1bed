from concurrent.futures import ThreadPoolExecutor

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from certiset.core.errors import SettingsError, StoreError
from certiset.core.settings import Settings
from certiset.core.store import Database, Store
from certiset.core.store.migrate import alembic_config, migrate
from certiset.core.store.record_base import Record
from certiset.core.store.schema import SCHEMA, require_current


def test_migrations_make_exactly_the_tables_that_the_records_describe(database_url: str) -> None:
    database = Database(database_url)
    migrate(database)
    with database.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, Record.metadata) == []
    database.close()


def test_the_schema_is_the_newest_revision_and_revisions_are_in_order() -> None:
    scripts = ScriptDirectory.from_config(alembic_config())
    revisions = [script.revision for script in scripts.walk_revisions()]
    assert scripts.get_current_head() == SCHEMA == revisions[0]
    assert revisions == sorted(revisions, reverse=True)
    assert {len(revision) for revision in revisions} == {len(SCHEMA)}


def test_a_second_migration_changes_nothing(database_url: str) -> None:
    database = Database(database_url)
    assert migrate(database) == (None, SCHEMA)
    assert migrate(database) == (SCHEMA, SCHEMA)
    database.close()


def test_several_processes_may_migrate_at_once(database_url: str) -> None:
    def one(_: int) -> tuple[str | None, str]:
        database = Database(database_url)
        try:
            return migrate(database)
        finally:
            database.close()

    with ThreadPoolExecutor(6) as pool:
        done = list(pool.map(one, range(6)))
    assert sorted(before is None for before, _ in done) == [False] * 5 + [True]


def test_a_database_that_was_not_migrated_is_refused_with_what_to_do(database_url: str) -> None:
    with pytest.raises(StoreError, match="run 'certiset migrate' first"):
        Store.ready(Settings(database_url=database_url))


def test_a_database_of_an_older_version_is_refused_with_what_to_do(database_url: str) -> None:
    database = Database(database_url)
    migrate(database)
    with database.engine.begin() as connection:
        connection.exec_driver_sql("update alembic_version set version_num = '0001'")
    with pytest.raises(StoreError, match=f"is at revision 0001, not {SCHEMA}: run 'certiset migrate' first"):
        require_current(database)
    database.close()


def test_a_database_of_a_newer_version_is_refused(database_url: str) -> None:
    database = Database(database_url)
    migrate(database)
    with database.engine.begin() as connection:
        connection.exec_driver_sql("update alembic_version set version_num = '9999'")
    for step in (require_current, migrate):
        with pytest.raises(StoreError, match="newer version of certiset"):
            step(database)
    database.close()


@pytest.mark.parametrize(
    ("url", "words"),
    [("mysql://root@localhost/x", "SQLite or PostgreSQL"), ("nonsense", "postgresql://"), ("oracle://x", "SQLite or")],
)
def test_other_databases_are_refused_in_a_sentence(url: str, words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        Database(url)
