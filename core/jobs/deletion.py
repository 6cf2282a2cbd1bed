"""Records that are deleted, with the files that no other record needs.

A tenant's records are added and deleted under its lock: what a new calibration needs is not deleted while it is queued,
and what is being deleted is not found by a new calibration.
"""

from certiset.core.errors import ConflictError
from certiset.core.resources import FINISHED
from certiset.core.store.garbage import discard_unnamed
from certiset.core.store.records import Dataset, ModelRecord
from certiset.core.store.store import Store, Transaction

_JUST_WRITTEN_SECONDS = 60.0
"""a file so young may be about to be named by another record"""


def delete_dataset(store: Store, tenant: str, dataset_id: str) -> None:
    """Removes the data; predictors and certificates made with them go on working."""
    with store.writing() as work:
        work.tenants.lock(tenant)
        record = work.datasets.get(tenant, dataset_id)
        _refuse_needed(work, record, "dataset")
        work.datasets.delete(record)
        work.audit.add("dataset.delete", tenant, "dataset", dataset_id)
    discard_unnamed(store, record.artifact, _JUST_WRITTEN_SECONDS)


def delete_model(store: Store, tenant: str, model_id: str) -> None:
    """Removes the model; predictors made with it have its weights, and go on working."""
    with store.writing() as work:
        work.tenants.lock(tenant)
        record = work.models.get(tenant, model_id)
        _refuse_needed(work, record, "model")
        work.models.delete(record)
        work.audit.add("model.delete", tenant, "model", model_id)
    discard_unnamed(store, record.artifact, _JUST_WRITTEN_SECONDS)


def delete_predictor(store: Store, tenant: str, predictor_id: str) -> None:
    """Ends its serving and removes its members; the certificate stays, marked as withdrawn."""
    with store.writing() as work:
        work.tenants.lock(tenant)
        record = work.predictors.get(tenant, predictor_id)
        work.predictors.withdraw(record)
        work.audit.add("predictor.delete", tenant, "predictor", predictor_id)
    discard_unnamed(store, record.artifact, _JUST_WRITTEN_SECONDS)


def delete_calibration(store: Store, tenant: str, calibration_id: str) -> None:
    """Removes the record of a calibration that has ended; its predictor and certificate stay."""
    with store.writing() as work:
        work.tenants.lock(tenant)
        record = work.calibrations.get(tenant, calibration_id)
        if record.status not in FINISHED:
            raise ConflictError(f"Calibration {calibration_id} is {record.status}: cancel it first.")
        work.calibrations.delete(record)
        work.audit.add("calibration.delete", tenant, "calibration", calibration_id)


def _refuse_needed(work: Transaction, record: Dataset | ModelRecord, kind: str) -> None:
    calibration = work.calibrations.unfinished_with(record)
    if calibration is not None:
        raise ConflictError(f"Calibration {calibration}, which needs this {kind}, has not ended: cancel it first.")
