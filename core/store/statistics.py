"""Numbers over all tenants, for an operator's metrics."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import case, func, select, union_all
from sqlalchemy.orm import Session

from certiset.core.resources import FINISHED
from certiset.core.store.audit import PROCESS_DIED
from certiset.core.store.clock import now
from certiset.core.store.deployment_records import DeploymentEventRecord, DeploymentRecord, DeploymentRowRecord
from certiset.core.store.job_kinds import JOBS
from certiset.core.store.records import AuditRecord, Calibration, Monitor


@dataclass(frozen=True)
class FitDurations:
    """How long the calibrations that ended in one way took, from their first start to their end."""

    status: str
    count: int
    seconds: float
    """of all together"""
    within: tuple[int, ...]
    """how many took at most as long as each of the bounds"""


class Statistics:
    def __init__(self, session: Session) -> None:
        self._session = session

    def queue_ages(self, limit: int) -> dict[str, float]:
        """By tenant, the seconds for which its oldest queued job has been due; the longest waits first."""
        queued = [select(job.tenant, job.not_before).where(job.status == "queued") for job in JOBS]
        waiting = union_all(*queued).subquery()
        oldest = func.min(waiting.c.not_before)
        chosen = select(waiting.c.tenant, now() - oldest).group_by(waiting.c.tenant).order_by(oldest).limit(limit)
        return {tenant: max(0.0, float(age)) for tenant, age in self._session.execute(chosen)}

    def fit_durations(self, bounds: Sequence[float]) -> list[FitDurations]:
        seconds = Calibration.finished_at - Calibration.started_at
        within = [func.sum(case((seconds <= bound, 1), else_=0)) for bound in bounds]
        chosen = (
            select(Calibration.status, func.count(), func.sum(seconds), *within)
            .where(Calibration.status.in_(FINISHED), seconds.is_not(None))
            .group_by(Calibration.status)
        )
        return [
            FitDurations(status, int(count), float(total), tuple(int(number) for number in numbers))
            for status, count, total, *numbers in self._session.execute(chosen)
        ]

    def fit_deaths(self, seconds: float) -> int:
        """Fitting processes that died in the last so many seconds, whatever job they had."""
        deaths = [f"{job.noun}.{PROCESS_DIED}" for job in JOBS]
        recent = (AuditRecord.at >= now() - seconds) & AuditRecord.action.in_(deaths)
        return self._session.scalar(select(func.count()).select_from(AuditRecord).where(recent)) or 0

    def deployment_events(self, seconds: float) -> dict[str, int]:
        """How often what happened to deployments in the last so many seconds, by kind."""
        event = DeploymentEventRecord
        chosen = select(event.kind, func.count()).where(event.at >= now() - seconds).group_by(event.kind)
        return {kind: int(number) for kind, number in self._session.execute(chosen)}

    def deployments(self) -> tuple[int, int]:
        """(how many there are, rows that they have collected), over all tenants."""
        names = self._session.scalar(select(func.count()).select_from(DeploymentRecord)) or 0
        return names, self._session.scalar(select(func.count()).select_from(DeploymentRowRecord)) or 0

    def contradicted(self, limit: int) -> list[tuple[str, str]]:
        """(tenant, predictor) of contradicted certificates, the newest first."""
        chosen = (
            select(Monitor.tenant, Monitor.predictor_id)
            .where(Monitor.contradicted_at.is_not(None))
            .order_by(Monitor.contradicted_at.desc())
            .limit(limit)
        )
        return [(tenant, predictor) for tenant, predictor in self._session.execute(chosen)]
