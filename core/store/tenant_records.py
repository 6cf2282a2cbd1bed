"""Everything of one tenant, table by table: read out, or removed a few at a time."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sqlalchemy import delete, inspect, select
from sqlalchemy.orm import Session

from certiset.core.resources import FINISHED
from certiset.core.store.account_records import AttemptRecord, RowSketchRecord, SharedRows
from certiset.core.store.batch_records import BatchRecord
from certiset.core.store.clock import now
from certiset.core.store.deployment_records import (
    DeploymentBlockRecord,
    DeploymentEventRecord,
    DeploymentRecord,
    DeploymentRowRecord,
)
from certiset.core.store.job_kinds import JOBS
from certiset.core.store.record_base import Record
from certiset.core.store.records import (
    ApiKey,
    AuditRecord,
    Calibration,
    CertificateRecord,
    Dataset,
    ModelRecord,
    Monitor,
    OutcomeRecord,
    PredictorRecord,
    ReportRecord,
    Tenant,
)
from certiset.core.store.summary_records import Summary

_OWNED: dict[str, Any] = {
    "datasets": Dataset,
    "models": ModelRecord,
    "calibrations": Calibration,
    "batches": BatchRecord,
    "predictors": PredictorRecord,
    "summaries": Summary,
    "certificates": CertificateRecord,
    "attempts": AttemptRecord,
    "row_sketches": RowSketchRecord,
    "shared_rows": SharedRows,
    "outcomes": OutcomeRecord,
    "monitors": Monitor,
    "deployments": DeploymentRecord,
    "deployment_events": DeploymentEventRecord,
    "deployment_blocks": DeploymentBlockRecord,
    "deployment_rows": DeploymentRowRecord,
    "keys": ApiKey,
}
_EXPORTED: dict[str, Any] = {**_OWNED, "audit": AuditRecord}
"""the audit log removes its rows itself: its database refuses others"""
TABLES = (*_EXPORTED, "reports")
_SECRET: dict[str, Any] = {
    "digest": ApiKey,
    "lease_owner": JOBS,
    "hashes": RowSketchRecord,
    "total": RowSketchRecord,
    "request_key": DeploymentBlockRecord,
}
"""columns that leave no database"""
_AT_ONCE = 500


class TenantRecords:
    def __init__(self, session: Session) -> None:
        self._session = session

    def rows(self, tenant: str, table: str) -> Iterator[dict[str, Any]]:
        """The tenant's rows of that table, without secrets, read while they are taken."""
        if table == "reports":
            chosen = select(ReportRecord).join(Calibration, Calibration.id == ReportRecord.calibration_id)
            chosen = chosen.where(Calibration.tenant == tenant)
        else:
            chosen = select(_EXPORTED[table]).where(_EXPORTED[table].tenant == tenant)
        for record in self._session.scalars(chosen.execution_options(yield_per=_AT_ONCE)):
            yield _columns(record)

    def artifacts(self, tenant: str) -> set[str]:
        """Files that its records refer to."""
        live = PredictorRecord.withdrawn_at.is_(None)
        active = Calibration.status.not_in(FINISHED)
        chosen = (
            select(Dataset.artifact).where(Dataset.tenant == tenant),
            select(ModelRecord.artifact).where(ModelRecord.tenant == tenant),
            select(PredictorRecord.artifact).where(PredictorRecord.tenant == tenant, live),
            select(Calibration.dataset_artifact).where(Calibration.tenant == tenant, active),
            select(Calibration.model_artifact).where(Calibration.tenant == tenant, active),
            select(Calibration.target_artifact).where(
                Calibration.tenant == tenant, active, Calibration.target_artifact.is_not(None)
            ),
            select(BatchRecord.artifact).where(BatchRecord.tenant == tenant, BatchRecord.artifact.is_not(None)),
            select(BatchRecord.members_artifact).where(
                BatchRecord.tenant == tenant,
                BatchRecord.status.not_in(FINISHED),
                BatchRecord.members_artifact.is_not(None),
            ),
            select(Tenant.row_key).where(Tenant.name == tenant, Tenant.row_key.is_not(None)),
        )
        return {str(name) for one in chosen for name in self._session.scalars(one)}

    def unfinished(self, tenant: str) -> list[str]:
        """Its jobs that wait, or that a worker still holds; one whose worker has gone may be removed."""
        found: list[str] = []
        for job in JOBS:
            held = (job.status == "queued") | ((job.status == "running") & (job.lease_until >= now()))
            found += self._session.scalars(select(job.id).where(job.tenant == tenant, held))
        return found

    def remove_some(self, tenant: str) -> int:
        """Removes up to a few hundred records of each kind; returns how many."""
        removed = 0
        for table in _OWNED.values():
            keys = inspect(table).primary_key
            chosen = select(table).where(table.tenant == tenant).order_by(*keys).limit(_AT_ONCE)
            for record in self._session.scalars(chosen).all():
                if isinstance(record, Calibration):
                    self._session.execute(delete(ReportRecord).where(ReportRecord.calibration_id == record.id))
                self._session.delete(record)
                removed += 1
            self._session.flush()
        return removed

    def remove_tenant(self, tenant: str) -> None:
        """The tenant's own row, which is the last one of it."""
        self._session.execute(delete(Tenant).where(Tenant.name == tenant))


def _columns(record: Record) -> dict[str, Any]:
    return {
        column.key: _readable(getattr(record, column.key))
        for column in inspect(type(record)).columns
        if not isinstance(record, _SECRET.get(column.key, ()))
    }


def _readable(value: Any) -> Any:
    """Inputs are float64 numbers in the database, and a list of them for a reader."""
    return np.frombuffer(value, dtype="<f8").tolist() if isinstance(value, bytes) else value
