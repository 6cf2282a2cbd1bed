"""Who may work on a job. Every step is one conditional UPDATE, so that of two workers exactly one gets it.

    queued ──claim──> running ──succeed──> succeeded
      ^ │               │ │ └──stop──────> cancelled
      │ └──cancel───────┼─┼──────────────> cancelled
      └──requeue────────┘ └──fail────────> failed (the last attempt, or retrying is useless)

A claim writes a new lease token into ``lease_owner``; every later write names the token, and has no effect if it is
gone. A worker that lost its lease, or whose message arrived twice, therefore changes nothing, however late it is.
The same transaction notes in the audit log that a job succeeded or failed, or that its process died; who
cancelled one is there already.
"""

import secrets
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, String, case, cast, func, literal, select, union_all, update
from sqlalchemy.orm import Session

from certiset.core.store.audit import PROCESS_DIED, AuditLog
from certiset.core.store.batch_records import BatchRecord
from certiset.core.store.clock import now
from certiset.core.store.job_columns import JobColumns
from certiset.core.store.job_kinds import JOBS, Job, kind_of
from certiset.core.store.predictors import FitResult, Predictors
from certiset.core.store.records import Calibration
from certiset.core.store.reports import Reports
from certiset.core.store.text import printable

_DOUBLINGS = 7
_DONE = {"phase": "done", "step": 1, "steps": 1, "fraction": 1.0, "metrics": {}}


@dataclass(frozen=True)
class Claim:
    """The right to work on one attempt of a job."""

    job: Job
    owner: str
    """the lease token"""

    @property
    def calibration(self) -> Calibration:
        """The job, which must be one."""
        assert isinstance(self.job, Calibration)
        return self.job

    @property
    def batch(self) -> BatchRecord:
        assert isinstance(self.job, BatchRecord)
        return self.job


@dataclass(frozen=True)
class Renewal:
    held: bool
    """False: another worker may have the job, so stop"""
    cancel_requested: bool = False


@dataclass(frozen=True)
class Swept:
    """What a sweep found; the ids must be announced after the commit."""

    announced: list[str]
    expired: int
    """number of expired leases"""


class Leases:
    def __init__(
        self, session: Session, audit: AuditLog, lease_seconds: float, max_attempts: int, retry_seconds: float
    ) -> None:
        self._session, self._audit = session, audit
        self._lease_seconds = lease_seconds
        self._max_attempts = max_attempts
        self._retry_seconds = retry_seconds

    def claim(self, id: str) -> Claim | None:
        """The next attempt at a queued job, or None: taken, finished, cancelled, unknown or not due yet."""
        owner, kind = secrets.token_hex(16), kind_of(id)
        job: type[JobColumns] = kind
        taken = self._session.execute(
            update(job)
            .where(job.id == id, job.status == "queued", job.not_before <= now(), job.cancel_requested.is_(False))
            .values(
                status="running",
                attempts=job.attempts + 1,
                lease_owner=owner,
                lease_until=now() + self._lease_seconds,
                announcements=0,
                started_at=func.coalesce(job.started_at, now()),
            )
            .returning(job.id)
        ).first()
        if taken is None:
            return None
        found: Job = self._session.get_one(kind, id, populate_existing=True)  # type: ignore[assignment]
        return Claim(found, owner)

    def renew(self, claim: Claim, progress: dict[str, Any] | None = None) -> Renewal:
        """Extends the lease and stores the progress, if there is any; a calibration's with all reports before."""
        job = _table(claim)
        values: dict[str, Any] = {"lease_until": now() + self._lease_seconds}
        if progress is not None:
            values |= {"progress": progress, "reports": job.reports + 1}
        found = self._session.execute(
            update(job).where(_ours(claim)).values(values).returning(job.cancel_requested, job.reports)
        ).first()
        if found is None:
            return Renewal(False)
        if progress is not None and isinstance(claim.job, Calibration):
            Reports(self._session).add(claim.job.id, found.reports, progress)
        return Renewal(True, found.cancel_requested)

    def succeed(self, claim: Claim, result: FitResult) -> bool:
        """Stores the fit's result, unless the lease was lost."""
        values = {
            "status": "succeeded",
            "predictor_id": result.predictor_id,
            "certificate_id": result.certificate_id,
            "error": None,
            "progress": _DONE,
        }
        if not self._end(claim, values):
            return False
        Predictors(self._session).add(claim.calibration, result)
        self._log("succeed", claim.job, {"certificate_id": result.certificate_id})
        return True

    def deliver(self, claim: Claim, artifact: str, stored_bytes: int) -> bool:
        """Stores the answer of a batch, unless the lease was lost."""
        values = {"artifact": artifact, "stored_bytes": stored_bytes, "error": None, "progress": _DONE}
        delivered = self._end(claim, {"status": "succeeded", **values})
        if delivered:
            self._log("succeed", claim.job)
        return delivered

    def stop(self, claim: Claim) -> bool:
        """The job was cancelled and has stopped."""
        return self._end(claim, {"status": "cancelled"})

    def fail(self, claim: Claim, reason: str) -> bool:
        """Fails for good: another attempt would not help."""
        failed = self._end(claim, {"status": "failed", "error": printable(reason)})
        if failed:
            self._log("fail", claim.job)
        return failed

    def requeue(self, claim: Claim, reason: str, *, process_died: bool = False) -> bool:
        """The attempt failed: requeued after a pause, or failed for good if it was the last one.

        That its process died is noted in the audit log, where metrics find it.
        """
        requeued = self._requeue(_table(claim), _ours(claim), printable(reason)) > 0
        if requeued and process_died:
            self._log(PROCESS_DIED, claim.job, {"attempt": claim.job.attempts})
        return requeued

    def release(self, claim: Claim) -> bool:
        """The worker shuts down: requeued at once, or cancelled if requested; the attempt does not count."""
        job = _table(claim)
        cancelled = job.cancel_requested
        values = {
            "status": case((cancelled, "cancelled"), else_="queued"),
            "finished_at": case((cancelled, now()), else_=None),
            "attempts": job.attempts - 1,
            "not_before": now(),
            "announced_at": now(),
            "progress": None,
        }
        return self._end(claim, values)

    def sweep(self, message_seconds: float) -> Swept:
        """Requeues jobs whose lease expired, and finds queued jobs whose message was lost."""
        announced: list[str] = []
        expired = 0
        for job in JOBS:
            reason = f"The worker that was {job.doing} disappeared: killed, out of memory, or cut off."
            lost = (job.status == "running") & (job.lease_until < now())
            expired += self._requeue(job, lost, reason, pause=False)
            announced += self._unheard(job, message_seconds)
        return Swept(sorted(announced), expired)

    def _unheard(self, job: type[JobColumns], message_seconds: float) -> list[str]:
        # Jobs that were just requeued are due at once, others when their last message is old, each time twice as old:
        # most of them are only waiting for a worker, and their messages must not pile up.
        waiting = (job.status == "queued") & (job.not_before <= now())
        doublings = case((job.announcements < _DOUBLINGS, job.announcements), else_=_DOUBLINGS)
        due_after = message_seconds * literal(1).bitwise_lshift(doublings)
        missed = (job.announced_at < now() - due_after) | (job.announced_at < job.not_before)
        announced = self._session.scalars(
            update(job)
            .where(waiting, missed)
            .values(announced_at=now(), announcements=job.announcements + 1)
            .returning(job.id)
        )
        return list(announced)

    def overdue(self, seconds: float, limit: int = 10) -> list[str]:
        """Queued jobs, oldest first, that no worker has taken for that long although they were announced."""
        late = [
            select(job.id.label("id"), job.not_before.label("due")).where(
                job.status == "queued", job.not_before < now() - seconds
            )
            for job in JOBS
        ]
        found = union_all(*late).subquery()
        return list(self._session.scalars(select(found.c.id).order_by(found.c.due).limit(limit)))

    def _end(self, claim: Claim, values: dict[str, Any]) -> bool:
        values = {"finished_at": now(), **values, "lease_owner": None, "lease_until": None}
        job = _table(claim)
        return (
            self._session.execute(update(job).where(_ours(claim)).values(values).returning(job.id)).first() is not None
        )

    def _requeue(self, job: type[JobColumns], which: ColumnElement[bool], reason: str, *, pause: bool = True) -> int:
        attempts, last = job.attempts, job.attempts >= self._max_attempts
        status = case((job.cancel_requested, "cancelled"), (last, "failed"), else_="queued")
        wait = self._retry_seconds * literal(1).bitwise_lshift(attempts - 1) if pause else literal(0.0)
        requeued = self._session.execute(
            update(job)
            .where(which)
            .values(
                status=status,
                error=case((job.cancel_requested, None), (last, _final_reason(reason, attempts)), else_=reason),
                lease_owner=None,
                lease_until=None,
                progress=None,
                announcements=0,
                not_before=now() + wait,
                finished_at=case((job.cancel_requested | last, now()), else_=None),
            )
            .returning(job.id, job.tenant, job.status)
        ).all()
        for found in requeued:
            if found.status == "failed":
                self._audit.add(f"{job.noun}.fail", found.tenant, job.noun, found.id)
        return len(requeued)

    def _log(self, action: str, job: Job, details: dict[str, Any] | None = None) -> None:
        self._audit.add(f"{job.noun}.{action}", job.tenant, job.noun, job.id, details=details)


def _table(claim: Claim) -> type[JobColumns]:
    return type(claim.job)


def _ours(claim: Claim) -> ColumnElement[bool]:
    job = _table(claim)
    return (job.id == claim.job.id) & (job.status == "running") & (job.lease_owner == claim.owner)


def _final_reason(reason: str, attempts: Any) -> Any:
    return literal(f"{reason} It was tried ") + cast(attempts, String) + " times."
