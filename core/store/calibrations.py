"""Calibrations as their owners see them: created, read, cancelled, retried."""

from typing import Any, ClassVar

from sqlalchemy import delete, select

from certiset.core.resources import FINISHED
from certiset.core.store.identifiers import new_id
from certiset.core.store.job_records import JobRecords
from certiset.core.store.records import Calibration, Dataset, ModelRecord, ReportRecord
from certiset.core.store.text import printable


class Calibrations(JobRecords[Calibration]):
    record: ClassVar[type[Calibration]] = Calibration
    noun: ClassVar[str] = Calibration.noun

    def create(
        self,
        dataset: Dataset,
        model: ModelRecord,
        options: dict[str, Any],
        *,
        name: str = "",
        idempotency_key: str | None = None,
        request_sha256: str = "",
        target: Dataset | None = None,
    ) -> Calibration:
        """A queued calibration; whoever commits the transaction announces it."""
        return self.add(
            Calibration(
                id=new_id("cal"),
                tenant=dataset.tenant,
                name=printable(name, 200),
                dataset_id=dataset.id,
                model_id=model.id,
                dataset_artifact=dataset.artifact,
                model_artifact=model.artifact,
                manifest=model.manifest,
                options=options,
                idempotency_key=idempotency_key,
                request_sha256=request_sha256,
                target_dataset_id=None if target is None else target.id,
                target_artifact=None if target is None else target.artifact,
            )
        )

    def delete(self, record: Calibration) -> None:
        """With its reports; the caller has made sure that it has ended."""
        self._session.execute(delete(ReportRecord).where(ReportRecord.calibration_id == record.id))
        super().delete(record)

    def unfinished_with(self, upload: Dataset | ModelRecord) -> str | None:
        """A calibration that still needs it; the caller has locked the tenant, so that no further one appears."""
        needs = Calibration.model_id == upload.id
        if isinstance(upload, Dataset):
            needs = (Calibration.dataset_id == upload.id) | (Calibration.target_dataset_id == upload.id)
        chosen = select(Calibration.id).where(
            Calibration.tenant == upload.tenant, needs, Calibration.status.not_in(FINISHED)
        )
        return self._session.scalars(chosen.limit(1)).first()
