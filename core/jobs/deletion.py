"""Records that are deleted, with the files that no other record needs.

A tenant's records are added and deleted under its lock: what a new calibration needs is not deleted while it is queued,
and what is being deleted is not found by a new calibration.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar

from certiset.core.errors import ConflictError, StoreError
from certiset.core.resources import FINISHED
from certiset.core.store.garbage import discard_unnamed
from certiset.core.store.owned_records import OwnedRecords
from certiset.core.store.records import Dataset, ModelRecord
from certiset.core.store.store import Store, Transaction

R = TypeVar("R", Dataset, ModelRecord)
_JUST_WRITTEN_SECONDS = 60.0
"""a file so young may be about to be named by another record"""


def delete_dataset(store: Store, tenant: str, dataset_id: str) -> None:
    """Removes the data; predictors and certificates made with them go on working."""
    with _deleting(store, tenant, "dataset", dataset_id) as (work, files):
        files.append(_delete_upload(work, work.datasets, tenant, dataset_id))


def delete_model(store: Store, tenant: str, model_id: str) -> None:
    """Removes the model; predictors made with it have its weights, and go on working."""
    with _deleting(store, tenant, "model", model_id) as (work, files):
        name = work.deployments.recalibrating_with(tenant, model_id)
        if name is not None:
            raise ConflictError(f"The deployment {name} recalibrates with this model: end that, or delete it, first.")
        files.append(_delete_upload(work, work.models, tenant, model_id))


def delete_predictor(store: Store, tenant: str, predictor_id: str) -> None:
    """Ends its serving and removes its members; the certificate stays, marked as withdrawn."""
    with _deleting(store, tenant, "predictor", predictor_id) as (work, files):
        record = work.predictors.get(tenant, predictor_id)
        names = work.deployments.standing_for(tenant, predictor_id)
        if names:
            raise ConflictError(
                f"The deployment {names[0]} stands for this predictor: switch it to another one, or delete it, first."
            )
        work.predictors.withdraw(record)
        files.append(record.artifact)


def delete_calibration(store: Store, tenant: str, calibration_id: str) -> None:
    """Removes the record of a calibration that has ended; its predictor and certificate stay."""
    with _deleting(store, tenant, "calibration", calibration_id) as (work, _):
        record = work.calibrations.get(tenant, calibration_id)
        if record.status not in FINISHED:
            raise ConflictError(f"Calibration {calibration_id} is {record.status}: cancel it first.")
        work.calibrations.delete(record)


def delete_batch(store: Store, tenant: str, batch_id: str) -> None:
    """Removes a batch that has ended, and its answer."""
    with _deleting(store, tenant, "batch", batch_id) as (work, files):
        record = work.batches.get(tenant, batch_id)
        if record.status not in FINISHED:
            raise ConflictError(f"Batch {batch_id} is {record.status}: cancel it first.")
        files += [file for file in (record.artifact, record.members_artifact) if file is not None]
        work.batches.delete(record)


@contextmanager
def _deleting(store: Store, tenant: str, kind: str, id: str) -> Iterator[tuple[Transaction, list[str]]]:
    """The transaction, and a list for the files that the record had: they go when it is committed."""
    files: list[str] = []
    with store.writing() as work:
        work.tenants.lock(tenant)
        yield work, files
        work.audit.add(f"{kind}.delete", tenant, kind, id)
    for file in files:
        # The record is gone. A file that cannot be removed now, since the store is away, is garbage for a worker.
        with suppress(StoreError):
            discard_unnamed(store, file, _JUST_WRITTEN_SECONDS)


def _delete_upload(work: Transaction, records: OwnedRecords[R], tenant: str, id: str) -> str:
    """Its file; a calibration that still needs it is in the way."""
    record = records.get(tenant, id)
    calibration = work.calibrations.unfinished_with(record)
    if calibration is not None:
        raise ConflictError(
            f"Calibration {calibration}, which needs this {records.noun}, has not ended: cancel it first."
        )
    records.delete(record)
    return record.artifact
