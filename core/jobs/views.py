"""Records of the store as the resources that users see: the one place that knows both."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, overload

from certiset.core import resources
from certiset.core.store.quotas import Amounts
from certiset.core.store.records import AuditRecord, Calibration, Dataset, ModelRecord, PredictorRecord


def dataset_resource(record: Dataset, columns: Sequence[Mapping[str, Any]] | None = None) -> resources.Dataset:
    return resources.Dataset(
        id=record.id,
        name=record.name,
        rows=record.rows,
        x_shape=tuple(record.x_shape),
        y_kind=record.y_kind,
        target=record.target,
        sha256=record.sha256,
        bytes=record.bytes,
        created_at=instant(record.created_at),
        columns=None if columns is None else tuple(resources.DataColumn.model_validate(one) for one in columns),
    )


def model_resource(record: ModelRecord) -> resources.Model:
    return resources.Model(
        id=record.id,
        name=record.name,
        task=record.task,
        input_shape=record.manifest["input_shape"],
        classes=record.manifest.get("classes"),
        sha256=record.sha256,
        bytes=record.bytes,
        rows=record.rows,
        rows_reason=record.rows_reason,
        manifest=record.manifest,
        created_at=instant(record.created_at),
    )


def calibration_resource(record: Calibration) -> resources.Calibration:
    return resources.Calibration.model_validate(
        {
            "id": record.id,
            "name": record.name,
            "status": record.status,
            "progress": record.progress,
            "error": record.error,
            "dataset_id": record.dataset_id,
            "model_id": record.model_id,
            "options": record.options,
            "attempts": record.attempts,
            "cancel_requested": record.cancel_requested,
            "predictor_id": record.predictor_id,
            "certificate_id": record.certificate_id,
            "created_at": instant(record.created_at),
            "started_at": instant(record.started_at),
            "finished_at": instant(record.finished_at),
        }
    )


def predictor_resource(record: PredictorRecord, *, contradicted: bool) -> resources.Predictor:
    return resources.Predictor(
        id=record.id,
        name=record.name,
        task=record.task,
        score=record.score,
        members=record.members,
        input_shape=record.description["manifest"]["input_shape"],
        serve=record.serve,
        certificate_id=record.certificate_id,
        certificate_status=certificate_status(contradicted=contradicted),
        calibration_id=record.calibration_id,
        created_at=instant(record.created_at),
    )


def audit_entry(record: AuditRecord) -> resources.AuditEntry:
    return resources.AuditEntry(
        id=record.id,
        at=instant(record.at),
        action=record.action,
        result=record.result,
        status=record.status,
        code=record.code,
        tenant=record.tenant,
        key_id=record.key_id,
        user=record.user,
        address=record.address,
        object_kind=record.object_kind,
        object_id=record.object_id,
        count=record.count,
        first_at=instant(record.first_at),
        details=record.details,
    )


def usage_resource(tenant: str, used: Amounts, allowed: Amounts) -> resources.Usage:
    limits = resources.Limits(**{name: limit or None for name, limit in asdict(allowed).items()})
    return resources.Usage(tenant=tenant, limits=limits, **asdict(used))


def certificate_status(*, contradicted: bool, withdrawn: bool = False) -> str:
    if withdrawn:
        return "withdrawn"
    return "contradicted" if contradicted else "consistent"


@overload
def instant(seconds: float) -> str: ...
@overload
def instant(seconds: float | None) -> str | None: ...
def instant(seconds: float | None) -> str | None:
    """RFC 3339, in UTC."""
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
