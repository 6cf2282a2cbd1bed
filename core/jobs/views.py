"""Records of the store as the resources that users see: the one place that knows both."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, overload

from certiset.core import resources
from certiset.core.overview_resources import OverviewRow
from certiset.core.store.overview import Listed
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
            "target_dataset_id": record.target_dataset_id,
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
        imported=record.imported,
    )


def overview_row(row: Listed) -> OverviewRow:
    summary, monitor, calibration = row.summary, row.monitor, row.calibration
    if summary is not None:
        return OverviewRow(
            calibration_id=summary.calibration_id,
            predictor_id=summary.predictor_id,
            certificate_id=summary.certificate_id,
            name=summary.name,
            status=certificate_status(contradicted=monitor is not None and monitor.contradicted_at is not None),
            fraction=None,
            error=None,
            task=summary.task,
            dataset_id=summary.dataset_id,
            dataset_name=summary.dataset_name,
            model_id=summary.model_id,
            model_name=summary.model_name,
            method=summary.method,
            guarantee=summary.guarantee,
            alpha=summary.alpha,
            delta=summary.delta,
            n=summary.n,
            size=summary.size,
            certified_size=summary.certified_size,
            measure=summary.measure,
            outcomes=monitor.outcomes if monitor else 0,
            misses=monitor.misses if monitor else 0,
            created_at=instant(summary.created_at),
        )
    assert calibration is not None
    options = calibration.options
    return OverviewRow(
        calibration_id=calibration.id,
        predictor_id=None,
        certificate_id=None,
        name=calibration.name,
        status=calibration.status,
        fraction=(calibration.progress or {}).get("fraction"),
        error=calibration.error,
        task=calibration.manifest["task"],
        dataset_id=calibration.dataset_id,
        dataset_name=row.dataset_name or "",
        model_id=calibration.model_id,
        model_name=row.model_name or "",
        method=options.get("method"),
        guarantee=None,
        alpha=_share(options.get("alpha")),
        delta=_share(options.get("delta")),
        n=None,
        size=None,
        certified_size=None,
        measure=None,
        outcomes=0,
        misses=0,
        created_at=instant(calibration.created_at),
    )


def _share(value: Any) -> float | None:
    """An option may also be a word, such as alpha: all."""
    return float(value) if isinstance(value, int | float) else None


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
