"""The audit log: a change and its row are one transaction, and no row is changed or deleted."""

import json
import time

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from certiset.core.errors import ConflictError
from certiset.core.jobs.calibrations import cancel_calibration
from certiset.core.jobs.deletion import delete_dataset
from certiset.core.store import Database, Store
from certiset.core.store.audit import Actor, AuditFilter, Refusals, merged
from certiset.core.store.migrate import migrate
from certiset.core.store.records import AuditRecord
from tests.core.store.records import a_calibration, a_dataset
from tests.core.store.revisions import upgrade_to

ADA = Actor(key_id="key-1", address="192.0.2.1")


def rows(store: Store, **wanted: object) -> list[AuditRecord]:
    with store.reading() as work:
        return work.audit.list(AuditFilter(**wanted), limit=200).items  # type: ignore[arg-type]


def test_a_change_is_logged_with_who_what_and_when(store: Store) -> None:
    dataset = a_dataset(store)
    before = time.time()
    delete_dataset(store.acting_for(ADA), "ada", dataset.id)
    (row,) = rows(store)
    assert (row.action, row.result, row.tenant) == ("dataset.delete", "ok", "ada")
    assert (row.key_id, row.address, row.user) == ("key-1", "192.0.2.1", None)
    assert (row.object_kind, row.object_id, row.count) == ("dataset", dataset.id, 1)
    assert before - 5 < row.at < time.time() + 5
    assert store.actor == Actor(), "the store itself acts for nobody"


def test_what_did_not_happen_is_not_logged_as_a_change(store: Store) -> None:
    calibration = a_calibration(store)
    with pytest.raises(ConflictError):
        delete_dataset(store.acting_for(ADA), "ada", calibration.dataset_id)
    assert rows(store) == []
    for _ in range(3):
        cancel_calibration(store.acting_for(ADA), "ada", calibration.id)
    assert [row.action for row in rows(store)] == ["calibration.cancel"], "a second time changes nothing"


@pytest.mark.parametrize(
    "statement",
    ["update audit set tenant = 'eve'", "delete from audit", "delete from audit where tenant = 'ada'"],
)
def test_the_database_refuses_to_change_or_delete_a_row(store: Store, statement: str) -> None:
    with store.writing() as work:
        work.audit.add("dataset.create", "ada", "dataset", "ds-1")
    with pytest.raises(DBAPIError, match="append-only"), store.writing() as work:
        work.session.execute(text(statement))
    assert [row.tenant for row in rows(store)] == ["ada"]


def test_the_database_refuses_to_empty_or_replace(store: Store) -> None:
    with store.writing() as work:
        made = work.audit.add("dataset.create", "ada", "dataset", "ds-1")
    statement = "truncate audit"
    if store.database.is_sqlite:
        statement = (
            f"insert or replace into audit (id, at, action, result, count) values ('{made.id}', 0, 'nothing', 'ok', 1)"
        )
    with pytest.raises(DBAPIError, match="append-only"), store.writing() as work:
        work.session.execute(text(statement))
    assert [row.action for row in rows(store)] == ["dataset.create"]


def test_erasing_a_tenant_leaves_the_erasure_and_the_others(store: Store) -> None:
    with store.writing() as work:
        for tenant in ("ada", "ada", "eve"):
            work.audit.add("dataset.create", tenant, "dataset", "ds-1")
    operator = store.acting_for(Actor(user="root"))
    with operator.writing() as work:
        assert work.audit.erase("ada") == 2
    assert [(row.action, row.user) for row in rows(store, tenant="ada")] == [("tenant.erase", "root")]
    assert [row.action for row in rows(store, tenant="eve")] == ["dataset.create"]
    with store.writing() as work:
        later = work.audit.add("dataset.create", "ada", "dataset", "ds-2")
    with pytest.raises(DBAPIError, match="append-only"), store.writing() as work:
        work.session.execute(text("delete from audit where id = :id"), {"id": later.id})
    with pytest.raises(DBAPIError, match="append-only"), store.writing() as work:
        work.session.execute(text("delete from audit where action = 'tenant.erase'"))


def test_rows_are_found_by_what_they_say_newest_first(store: Store) -> None:
    with store.acting_for(ADA).writing() as work:
        for number in range(5):
            work.audit.add("dataset.create", "ada", "dataset", f"ds-{number}")
            time.sleep(0.002)
        work.audit.add("model.create", "eve", "model", "mod-1")
        work.session.flush()
        work.audit.add_refusals(Refusals("dataset.create", Actor(), None, 401, "unauthorized", 7, 100.0, 160.0))
    assert [row.object_id for row in rows(store, tenant="ada")] == [f"ds-{number}" for number in (4, 3, 2, 1, 0)]
    assert [row.action for row in rows(store, object_id="mod-1")] == ["model.create"]
    assert len(rows(store, action="dataset.create")) == 6
    assert len(rows(store, key_id="key-1")) == 6
    (refused,) = rows(store, until=200.0)
    assert (refused.count, refused.first_at, refused.at, refused.tenant) == (7, 100.0, 160.0, None)
    assert len(rows(store, since=200.0)) == 6
    with store.reading() as work:
        first = work.audit.list(AuditFilter(tenant="ada"), limit=2)
        second = work.audit.list(AuditFilter(tenant="ada"), limit=2, cursor=first.next_cursor)
        assert [row.object_id for row in first.items + second.items] == ["ds-4", "ds-3", "ds-2", "ds-1"]
        assert work.audit.rows() == 7


def test_refusals_of_one_kind_are_one() -> None:
    one = Refusals("dataset.delete", ADA, "ada", 404, "not_found", 2, 10.0, 12.0, "ds-1")
    other = Refusals("dataset.delete", ADA, "ada", 404, "not_found", 3, 13.0, 15.0, "ds-2")
    both = merged(one, other)
    assert (both.count, both.first_at, both.at, both.object_id) == (5, 10.0, 15.0, None)
    assert merged(one, one).object_id == "ds-1"


def test_admins_of_the_default_tenant_become_operators(database_url: str) -> None:
    database = Database(database_url)
    upgrade_to(database, "0004")
    keys = {"k1": ("default", ["read", "admin"]), "k2": ("default", ["read"]), "k3": ("ada", ["read", "admin"])}
    with database.writing() as session:
        for id, (tenant, scopes) in keys.items():
            session.execute(
                text(
                    "insert into api_keys (id, tenant, name, scopes, digest, created_at) "
                    "values (:id, :tenant, '', :scopes, :id, 0)"
                ),
                {"id": id, "tenant": tenant, "scopes": json.dumps(scopes)},
            )
    migrate(database)
    with database.reading() as session:
        found = session.execute(text("select id, scopes from api_keys")).all()
    read = {row.id: json.loads(row.scopes) if isinstance(row.scopes, str) else row.scopes for row in found}
    assert read == {"k1": ["read", "admin", "operator"], "k2": ["read"], "k3": ["read", "admin"]}
    database.close()
