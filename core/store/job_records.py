"""Jobs as their owners see them, of whatever kind: found again, cancelled, retried, counted."""

from typing import Any, ClassVar, TypeVar

from sqlalchemy import func, select, update

from certiset.core.errors import ConflictError
from certiset.core.store.batch_records import BatchRecord
from certiset.core.store.clock import now
from certiset.core.store.job_columns import JobColumns
from certiset.core.store.owned_records import OwnedRecords
from certiset.core.store.records import Calibration

J = TypeVar("J", Calibration, BatchRecord)


class JobRecords(OwnedRecords[J]):
    record: ClassVar[type[Any]]

    @property
    def _table(self) -> type[JobColumns]:
        found: type[JobColumns] = self.record
        return found

    def by_idempotency_key(self, tenant: str, key: str) -> J | None:
        return self._one(tenant=tenant, idempotency_key=key)

    def cancel(self, id: str) -> J:
        """Ends a queued one at once and asks a running one to stop; a finished one is not changed."""
        job = self._table
        self._session.execute(
            update(job)
            .where(job.id == id, job.status == "queued")
            .values(status="cancelled", cancel_requested=True, finished_at=now())
        )
        self._session.execute(update(job).where(job.id == id, job.status == "running").values(cancel_requested=True))
        return self._found(id)

    def retry(self, id: str) -> J:
        """Requeues a failed or cancelled one; its attempts are counted from 0 again."""
        job = self._table
        taken = self._session.execute(
            update(job)
            .where(job.id == id, job.status.in_(("failed", "cancelled")))
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
            .returning(job.id)
        ).first()
        found = self._found(id)
        if taken is None:
            noun = self.noun.capitalize()
            raise ConflictError(f"{noun} {id} is {found.status}: only a failed or cancelled one can be retried.")
        return found

    def counts(self) -> dict[str, int]:
        """How many there are by status, over all tenants."""
        job = self._table
        counted = self._session.execute(select(job.status, func.count()).group_by(job.status))
        return {status: int(number) for status, number in counted}

    def _found(self, id: str) -> J:
        found = self.find(id)
        if found is None:
            raise self._not_found(id)
        return found
