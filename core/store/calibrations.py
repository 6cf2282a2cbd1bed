"""Calibrations as their owners see them: created, read, cancelled, retried."""

from typing import Any, ClassVar

from sqlalchemy import delete, func, select, update

from certiset.core.errors import ConflictError
from certiset.core.resources import FINISHED
from certiset.core.store.clock import now
from certiset.core.store.identifiers import new_id
from certiset.core.store.owned_records import OwnedRecords
from certiset.core.store.records import Calibration, Dataset, ModelRecord, ReportRecord
from certiset.core.store.text import printable


class Calibrations(OwnedRecords[Calibration]):
    record: ClassVar[type[Calibration]] = Calibration
    noun: ClassVar[str] = "calibration"

    def create(
        self,
        dataset: Dataset,
        model: ModelRecord,
        options: dict[str, Any],
        *,
        name: str = "",
        idempotency_key: str | None = None,
        request_sha256: str = "",
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
            )
        )

    def by_idempotency_key(self, tenant: str, key: str) -> Calibration | None:
        return self._one(tenant=tenant, idempotency_key=key)

    def cancel(self, id: str) -> Calibration:
        """Ends a queued one at once and asks a running one to stop; a finished one is not changed."""
        self._session.execute(
            update(Calibration)
            .where(Calibration.id == id, Calibration.status == "queued")
            .values(status="cancelled", cancel_requested=True, finished_at=now())
        )
        self._session.execute(
            update(Calibration)
            .where(Calibration.id == id, Calibration.status == "running")
            .values(cancel_requested=True)
        )
        return self._found(id)

    def retry(self, id: str) -> Calibration:
        """Requeues a failed or cancelled one; its attempts are counted from 0 again."""
        taken = self._session.execute(
            update(Calibration)
            .where(Calibration.id == id, Calibration.status.in_(("failed", "cancelled")))
            .values(
                status="queued",
                attempts=0,
                cancel_requested=False,
                error=None,
                progress=None,
                finished_at=None,
                not_before=now(),
                announced_at=now(),
                announcements=0,
            )
            .returning(Calibration.id)
        ).first()
        found = self._found(id)
        if taken is None:
            raise ConflictError(f"Calibration {id} is {found.status}: only a failed or cancelled one can be retried.")
        return found

    def counts(self) -> dict[str, int]:
        """The number of calibrations by status, over all tenants."""
        counted = self._session.execute(select(Calibration.status, func.count()).group_by(Calibration.status))
        return {status: int(number) for status, number in counted}

    def delete(self, record: Calibration) -> None:
        """With its reports; the caller has made sure that it has ended."""
        self._session.execute(delete(ReportRecord).where(ReportRecord.calibration_id == record.id))
        super().delete(record)

    def unfinished_with(self, upload: Dataset | ModelRecord) -> str | None:
        """A calibration that still needs it; the caller has locked the tenant, so that no further one appears."""
        column = Calibration.dataset_id if isinstance(upload, Dataset) else Calibration.model_id
        chosen = select(Calibration.id).where(
            Calibration.tenant == upload.tenant, column == upload.id, Calibration.status.not_in(FINISHED)
        )
        return self._session.scalars(chosen.limit(1)).first()

    def _found(self, id: str) -> Calibration:
        found = self.find(id)
        if found is None:
            raise self._not_found(id)
        return found
