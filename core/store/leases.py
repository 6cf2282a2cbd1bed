"""Who may work on a calibration. Every step is one conditional UPDATE, so that of two workers exactly one gets it.

    queued ──claim──> running ──succeed──> succeeded
      ^ │               │ │ └──stop──────> cancelled
      │ └──cancel───────┼─┼──────────────> cancelled
      └──requeue────────┘ └──fail────────> failed (the last attempt, or retrying is useless)

A claim writes a new lease token into ``lease_owner``; every later write names the token, and has no effect if it is
gone. A worker that lost its lease, or whose message arrived twice, therefore changes nothing, however late it is.
The same transaction notes in the audit log that a calibration succeeded or failed, or that its process died; who
cancelled one is there already.
"""

import secrets
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, String, case, cast, func, literal, select, update
from sqlalchemy.orm import Session

from certiset.core.store.audit import PROCESS_DIED, AuditLog
from certiset.core.store.clock import now
from certiset.core.store.predictors import FitResult, Predictors
from certiset.core.store.records import Calibration
from certiset.core.store.reports import Reports
from certiset.core.store.text import printable

_DOUBLINGS = 7


@dataclass(frozen=True)
class Claim:
    """The right to work on one attempt of a calibration."""

    calibration: Calibration
    owner: str
    """the lease token"""


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
        """The next attempt at a queued calibration, or None: taken, finished, cancelled, unknown or not due yet."""
        owner = secrets.token_hex(16)
        taken = self._session.execute(
            update(Calibration)
            .where(Calibration.id == id, Calibration.status == "queued", Calibration.not_before <= now())
            .where(Calibration.cancel_requested.is_(False))
            .values(
                status="running",
                attempts=Calibration.attempts + 1,
                lease_owner=owner,
                lease_until=now() + self._lease_seconds,
                announcements=0,
                started_at=func.coalesce(Calibration.started_at, now()),
            )
            .returning(Calibration.id)
        ).first()
        if taken is None:
            return None
        return Claim(self._session.get_one(Calibration, id, populate_existing=True), owner)

    def renew(self, claim: Claim, progress: dict[str, Any] | None = None) -> Renewal:
        """Extends the lease and stores the progress, if there is any."""
        values: dict[str, Any] = {"lease_until": now() + self._lease_seconds}
        if progress is not None:
            values |= {"progress": progress, "reports": Calibration.reports + 1}
        found = self._session.execute(
            update(Calibration)
            .where(self._ours(claim))
            .values(values)
            .returning(Calibration.cancel_requested, Calibration.reports)
        ).first()
        if found is None:
            return Renewal(False)
        if progress is not None:
            Reports(self._session).add(claim.calibration.id, found.reports, progress)
        return Renewal(True, found.cancel_requested)

    def succeed(self, claim: Claim, result: FitResult) -> bool:
        """Stores the fit's result, unless the lease was lost."""
        values = {
            "status": "succeeded",
            "predictor_id": result.predictor_id,
            "certificate_id": result.certificate_id,
            "error": None,
            "progress": {"phase": "done", "step": 1, "steps": 1, "fraction": 1.0, "metrics": {}},
        }
        if not self._end(claim, values):
            return False
        Predictors(self._session).add(claim.calibration, result)
        details = {"certificate_id": result.certificate_id}
        self._log("calibration.succeed", claim.calibration.tenant, claim.calibration.id, details)
        return True

    def stop(self, claim: Claim) -> bool:
        """The fit was cancelled and has stopped."""
        return self._end(claim, {"status": "cancelled"})

    def fail(self, claim: Claim, reason: str) -> bool:
        """Fails for good: another attempt would not help."""
        failed = self._end(claim, {"status": "failed", "error": printable(reason)})
        if failed:
            self._log("calibration.fail", claim.calibration.tenant, claim.calibration.id)
        return failed

    def requeue(self, claim: Claim, reason: str, *, process_died: bool = False) -> bool:
        """The attempt failed: requeued after a pause, or failed for good if it was the last one.

        That its process died is noted in the audit log, where metrics find it.
        """
        calibration = claim.calibration
        requeued = self._requeue(self._ours(claim), printable(reason)) > 0
        if requeued and process_died:
            self._log(PROCESS_DIED, calibration.tenant, calibration.id, {"attempt": calibration.attempts})
        return requeued

    def release(self, claim: Claim) -> bool:
        """The worker shuts down: requeued at once, or cancelled if requested; the attempt does not count."""
        cancelled = Calibration.cancel_requested
        values = {
            "status": case((cancelled, "cancelled"), else_="queued"),
            "finished_at": case((cancelled, now()), else_=None),
            "attempts": Calibration.attempts - 1,
            "not_before": now(),
            "announced_at": now(),
            "progress": None,
        }
        return self._end(claim, values)

    def sweep(self, message_seconds: float) -> Swept:
        """Requeues jobs whose lease expired, and finds queued jobs whose message was lost."""
        expired = self._requeue(
            (Calibration.status == "running") & (Calibration.lease_until < now()),
            "The worker that was fitting this calibration disappeared: killed, out of memory, or cut off.",
            pause=False,
        )
        # Jobs that were just requeued are due at once, others when their last message is old, each time twice as old:
        # most of them are only waiting for a worker, and their messages must not pile up.
        waiting = (Calibration.status == "queued") & (Calibration.not_before <= now())
        doublings = case((Calibration.announcements < _DOUBLINGS, Calibration.announcements), else_=_DOUBLINGS)
        due_after = message_seconds * literal(1).bitwise_lshift(doublings)
        missed = (Calibration.announced_at < now() - due_after) | (Calibration.announced_at < Calibration.not_before)
        announced = self._session.scalars(
            update(Calibration)
            .where(waiting, missed)
            .values(announced_at=now(), announcements=Calibration.announcements + 1)
            .returning(Calibration.id)
        )
        return Swept(sorted(announced), expired)

    def overdue(self, seconds: float, limit: int = 10) -> list[str]:
        """Queued jobs, oldest first, that no worker has taken for that long although they were announced."""
        chosen = (
            select(Calibration.id)
            .where(Calibration.status == "queued", Calibration.not_before < now() - seconds)
            .order_by(Calibration.not_before)
            .limit(limit)
        )
        return list(self._session.scalars(chosen))

    def _ours(self, claim: Claim) -> ColumnElement[bool]:
        return (
            (Calibration.id == claim.calibration.id)
            & (Calibration.status == "running")
            & (Calibration.lease_owner == claim.owner)
        )

    def _end(self, claim: Claim, values: dict[str, Any]) -> bool:
        values = {"finished_at": now(), **values, "lease_owner": None, "lease_until": None}
        ended = self._session.execute(
            update(Calibration).where(self._ours(claim)).values(values).returning(Calibration.id)
        )
        return ended.first() is not None

    def _requeue(self, which: ColumnElement[bool], reason: str, *, pause: bool = True) -> int:
        attempts, last = Calibration.attempts, Calibration.attempts >= self._max_attempts
        status = case((Calibration.cancel_requested, "cancelled"), (last, "failed"), else_="queued")
        wait = self._retry_seconds * literal(1).bitwise_lshift(attempts - 1) if pause else literal(0.0)
        requeued = self._session.execute(
            update(Calibration)
            .where(which)
            .values(
                status=status,
                error=case((Calibration.cancel_requested, None), (last, _final_reason(reason, attempts)), else_=reason),
                lease_owner=None,
                lease_until=None,
                progress=None,
                announcements=0,
                not_before=now() + wait,
                finished_at=case((Calibration.cancel_requested | last, now()), else_=None),
            )
            .returning(Calibration.id, Calibration.tenant, Calibration.status)
        ).all()
        for found in requeued:
            if found.status == "failed":
                self._log("calibration.fail", found.tenant, found.id)
        return len(requeued)

    def _log(self, action: str, tenant: str, id: str, details: dict[str, Any] | None = None) -> None:
        self._audit.add(action, tenant, "calibration", id, details=details)


def _final_reason(reason: str, attempts: Any) -> Any:
    return literal(f"{reason} It was tried ") + cast(attempts, String) + " times."
