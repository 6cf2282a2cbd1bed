"""Records as users see them."""

from datetime import UTC, datetime
from typing import Any

from core.store.records import Calibration


def calibration_json(record: Calibration) -> dict[str, Any]:
    return {
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


def instant(seconds: float | None) -> str | None:
    """RFC 3339, in UTC."""
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
