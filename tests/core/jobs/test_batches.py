"""Batches are jobs like calibrations: they take turns with them, are leased, swept, counted, exported and erased."""

import json
import zipfile
from pathlib import Path

import pytest

from certiset.core.errors import ConflictError, NotFoundError, QuotaExceededError
from certiset.core.jobs.batch_answers import deliver, needed_by
from certiset.core.jobs.batches import batch_resource, cancel_batch
from certiset.core.jobs.deletion import delete_batch, delete_dataset, delete_predictor
from certiset.core.jobs.tenant_erasure import erase_tenant
from certiset.core.jobs.tenant_export import export_tenant
from certiset.core.store import Store
from certiset.core.store.audit import AuditFilter
from certiset.core.store.batch_records import BatchRecord
from certiset.core.store.garbage import orphans
from certiset.core.store.job_kinds import Job
from certiset.core.store.leases import Claim
from certiset.core.store.quotas import Amounts
from certiset.core.store.records import Dataset
from tests.core.store.records import a_calibration, a_dataset, a_fit_result


def a_predictor(store: Store, tenant: str = "ada", content: bytes = b"members") -> str:
    calibration = a_calibration(store, tenant)
    with store.writing() as work:
        claim = work.leases.claim(calibration.id)
        assert claim is not None
        assert work.leases.succeed(claim, a_fit_result(tenant))
        work.predictors.get(tenant, f"pred-{tenant}").artifact = store.artifacts.put(content)
    return f"pred-{tenant}"


def a_batch(store: Store, tenant: str = "ada", dataset: Dataset | None = None) -> BatchRecord:
    with store.reading() as work:
        known = work.predictors.find(tenant, f"pred-{tenant}")
    id = a_predictor(store, tenant) if known is None else known.id
    rows = dataset or a_dataset(store, tenant)
    with store.writing() as work:
        return work.batches.create(work.predictors.get(tenant, id), rows, {"alpha": None, "cases": None})


def claimed(store: Store) -> Claim:
    with store.writing() as work:
        claim = work.turns.claim()
    assert claim is not None
    return claim


def found(store: Store, batch: BatchRecord) -> BatchRecord:
    with store.reading() as work:
        return work.batches.get(batch.tenant, batch.id)


def test_the_oldest_job_of_a_tenant_is_next_whatever_its_kind(store: Store) -> None:
    a_predictor(store)
    jobs: list[Job] = [a_calibration(store), a_batch(store), a_calibration(store), a_batch(store)]
    assert [claimed(store).job.id for _ in jobs] == [job.id for job in jobs]


def test_running_batches_count_when_turns_and_quotas_are_decided(store: Store) -> None:
    a_batch(store, "ada"), a_batch(store, "ada"), a_calibration(store, "bob")
    with store.writing() as work:
        work.tenants.set_quotas("ada", {"running_jobs": 1, "queued_jobs": 1, "predictors": 1})
    assert [claimed(store).job.tenant for _ in range(2)] == ["ada", "bob"]
    with store.writing() as work:
        assert work.turns.claim() is None
        used = work.tenants.usage("ada")
        assert (used.running_jobs, used.queued_jobs) == (1, 1)
        with pytest.raises(QuotaExceededError, match="1 of 1 queued jobs are in use"):
            work.tenants.check("ada", Amounts(queued_jobs=1))
        # No batch becomes a predictor.
        work.tenants.set_quotas("ada", {"predictors": 2})
        work.tenants.check("ada", Amounts(predictors=1))


def test_a_lost_lease_is_swept_and_a_late_answer_changes_nothing(store: Store) -> None:
    batch = a_batch(store)
    late = claimed(store)
    with store.writing() as work:
        work.batches.get("ada", batch.id).lease_until = 1.0
    with store.writing() as work:
        assert work.leases.sweep(30.0).announced == [batch.id]
    assert "The worker that was working on this batch disappeared" in (found(store, batch).error or "")
    again = claimed(store)
    with store.writing() as work:
        assert not deliver(work, late, "a" * 64, 10)
    assert found(store, batch).artifact is None
    with store.writing() as work:
        assert deliver(work, again, "b" * 64, 10)
    ended = batch_resource(found(store, batch))
    assert (ended.status, ended.sha256, ended.bytes, ended.attempts) == ("succeeded", "b" * 64, 10, 2)
    with store.reading() as work:
        (logged,) = work.audit.list(AuditFilter(object_id=batch.id)).items
        assert (logged.action, logged.object_kind) == ("batch.succeed", "batch")
        assert work.tenants.usage("ada").bytes >= 10


def test_an_answer_that_the_quota_has_no_room_for_is_a_failure_that_says_so(store: Store) -> None:
    batch = a_batch(store)
    claim = claimed(store)
    with store.writing() as work:
        work.tenants.set_quotas("ada", {"bytes": work.tenants.usage("ada").bytes + 9})
        assert deliver(work, claim, "b" * 64, 10)
    ended = found(store, batch)
    assert (ended.status, ended.artifact) == ("failed", None)
    assert ended.error is not None
    assert ended.error.startswith("The answer cannot be stored.")
    assert "larger quota" in ended.error


def test_what_a_batch_waits_for_may_be_deleted_and_what_it_reads_stays_until_it_ends(store: Store) -> None:
    dataset = a_dataset(store, artifact=store.artifacts.put(b"rows"))
    batch = a_batch(store, dataset=dataset)
    claim = claimed(store)
    delete_dataset(store, "ada", dataset.id)
    with store.reading() as work, pytest.raises(NotFoundError, match=f"The dataset {dataset.id} was deleted before"):
        needed_by(work, claim.batch)
    assert dataset.artifact not in {file.sha256 for file in orphans(store, older_than=-60)}
    delete_predictor(store, "ada", "pred-ada")
    with store.writing() as work:
        assert deliver(work, claim, "b" * 64, 10)
    assert found(store, batch).error == "The predictor pred-ada was deleted before the batch was done."
    assert dataset.artifact in {file.sha256 for file in orphans(store, older_than=-60)}


def test_a_batch_is_cancelled_and_only_an_ended_one_deleted_with_its_file(store: Store) -> None:
    first, second = a_batch(store), a_batch(store)
    with pytest.raises(ConflictError, match="is queued: cancel it first"):
        delete_batch(store, "ada", first.id)
    with pytest.raises(NotFoundError, match="There is no batch"):
        cancel_batch(store, "eve", first.id)
    assert cancel_batch(store, "ada", first.id).status == "cancelled"
    delete_batch(store, "ada", first.id)
    claim, answer = claimed(store), store.artifacts.put(b"an answer")
    assert claim.job.id == second.id
    with store.writing() as work:
        assert deliver(work, claim, answer, 9)
    assert answer not in {file.sha256 for file in orphans(store, older_than=-60)}
    delete_batch(store, "ada", second.id)
    assert answer in {file.sha256 for file in orphans(store, older_than=-60)} or not store.artifacts.exists(answer)


def test_a_tenant_is_exported_with_its_batches_and_erased_with_them(store: Store, tmp_path: Path) -> None:
    done = a_batch(store)
    answer, claim = store.artifacts.put(b"an answer"), claimed(store)
    with store.writing() as work:
        assert deliver(work, claim, answer, 9)
    a_batch(store)
    assert export_tenant(store, "ada", tmp_path / "ada.zip").records["batches"] == 2
    with zipfile.ZipFile(tmp_path / "ada.zip") as archive:
        rows = [json.loads(line) for line in archive.read("records/batches.jsonl").splitlines()]
        assert archive.read(f"artifacts/{answer}") == b"an answer"
    assert [row["status"] for row in rows if row["id"] == done.id] == ["succeeded"]
    assert "lease_owner" not in rows[0]
    erase_tenant(store, "ada", key_seconds=0)
    with store.reading() as work:
        assert work.batches.list(None).items == []
