"""Every fit that begins on some rows is counted once, also over re-uploads, and two at once get two numbers."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from certiset.core.data.row_sketch import RowSketch
from certiset.core.jobs.attempts import begin_attempt, risk_of, row_key
from certiset.core.settings import Settings
from certiset.core.store import Store
from certiset.core.store.garbage import orphans
from certiset.core.store.records import Calibration
from certiset.core.store.store import Transaction
from tests.databases import new_store

KEY = b"k" * 32


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = new_store(Settings(home=tmp_path))
    yield opened
    opened.close()


def calibration(id: str, artifact: str, *, tenant: str = "ada", **options: object) -> Calibration:
    return Calibration(id=id, tenant=tenant, dataset_artifact=artifact, options={"delta": 0.05, **options})


def sketch(seed: int, rows: int = 500) -> RowSketch:
    random = np.random.default_rng(seed)
    return RowSketch.of(KEY, random.normal(size=(rows, 2)), random.normal(size=rows))


def begin(store: Store, made: Calibration, rows: RowSketch) -> tuple[int, float]:
    with store.writing() as work:
        account = begin_attempt(work, made, rows)
    return account.attempt, round(account.delta_all, 9)


def test_attempts_on_shared_rows_are_counted_once_each_with_the_sum_of_their_risks(store: Store) -> None:
    assert begin(store, calibration("a", "first"), sketch(0)) == (1, 0.05)
    assert begin(store, calibration("b", "first", delta=0.1), sketch(0)) == (2, 0.15)
    assert begin(store, calibration("b", "first", delta=0.1), sketch(0)) == (2, 0.15), "tried again, not another one"
    assert begin(store, calibration("c", "other"), sketch(1)) == (1, 0.05), "fresh rows"
    assert begin(store, calibration("d", "again", family=5), sketch(0)) == (3, 0.16), "uploaded in another form"
    assert begin(store, calibration("e", "first"), sketch(0)) == (4, 0.21), "and known from there, too"
    assert begin(store, calibration("f", "first", tenant="eve"), sketch(0)) == (1, 0.05), "another tenant's"


def test_the_mean_over_a_posterior_risks_its_pool_as_well() -> None:
    assert risk_of({"delta": 0.05}) == 0.05
    assert risk_of({"delta": 0.05, "guarantee": "posterior", "family": 2}) == 0.05


def test_attempts_that_begin_at_once_have_different_numbers(store: Store) -> None:
    with ThreadPoolExecutor(8) as pool:
        numbers = list(pool.map(lambda id: begin(store, calibration(str(id), "first"), sketch(0))[0], range(16)))
    assert sorted(numbers) == list(range(1, 17))


def test_the_key_of_row_hashes_is_made_once_and_is_no_garbage(store: Store) -> None:
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(lambda _: row_key(store, "ada"), range(16)))
    assert len(keys) == 1
    (key,) = keys
    assert len(store.artifacts.get(key)) == 32
    assert orphans(store, older_than=-60) == [], "neither it nor the keys of those who were slower"
    assert row_key(store, "eve") != key
    store.artifacts.discard(store.artifacts.file(key), older_than=-60)
    renewed = row_key(store, "ada")
    assert renewed != key
    assert row_key(store, "ada") == renewed


def test_what_is_kept_of_the_rows_is_erased_with_their_tenant_and_exported_without_hashes(store: Store) -> None:
    begin(store, calibration("a", "first"), sketch(0))

    def rows(work: Transaction) -> dict[str, list[dict[str, object]]]:
        return {
            name: list(work.tenant_records.rows("ada", name)) for name in ("attempts", "row_sketches", "shared_rows")
        }

    with store.reading() as work:
        found = rows(work)
    assert {name: len(entries) for name, entries in found.items()} == dict.fromkeys(found, 1)
    assert "hashes" not in found["row_sketches"][0]
    with store.writing() as work:
        work.tenant_records.remove_some("ada")
    with store.reading() as work:
        assert not any(rows(work).values())
