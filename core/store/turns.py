"""Which job is next, calibration or batch: tenants take turns, so that nobody waits behind all that another has queued.

The tenant with the fewest running jobs comes first, then the one that was served longest ago, then the one
whose job is the oldest; of its jobs, the oldest. A tenant that runs as many as it may is passed over.
"""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, String, case, cast, func, select, text, union_all
from sqlalchemy.orm import Session

from certiset.core.settings import Settings
from certiset.core.store.clock import now
from certiset.core.store.identifiers import ID_LENGTH
from certiset.core.store.job_columns import JobColumns
from certiset.core.store.job_kinds import JOBS
from certiset.core.store.leases import Claim, Leases
from certiset.core.store.quotas import Amounts
from certiset.core.store.records import Tenant
from certiset.core.store.tenants import Tenants

_LOCK = 7_220_159
_TRIES = 100


@dataclass(frozen=True)
class _Next:
    tenant: str
    id: str


class Turns:
    def __init__(self, session: Session, settings: Settings, leases: Leases, tenants: Tenants) -> None:
        self._session, self._settings, self._leases, self._tenants = session, settings, leases, tenants

    def claim(self) -> Claim | None:
        """The next attempt at whatever job is next, or None if there is none to begin now."""
        if self._session.get_bind().dialect.name == "postgresql":
            # One worker chooses at a time, or two could both begin what is the last one that a quota allows. A worker
            # that freezes here must not stop all others.
            self._session.execute(text("set local idle_in_transaction_session_timeout = '5s'"))
            self._session.execute(text("select pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        for _ in range(_TRIES):
            chosen = self._next()
            if chosen is None:
                return None
            # The tenant before its job, as whoever adds and deletes records does.
            self._tenants.serve(chosen.tenant)
            claim = self._leases.claim(chosen.id)
            if claim is not None:
                return claim
        return None

    def _next(self) -> _Next | None:
        jobs = union_all(*[_unfinished(job) for job in JOBS]).subquery()
        due = (jobs.c.status == "queued") & (jobs.c.not_before <= now()) & jobs.c.cancel_requested.is_(False)
        waiting = (
            select(
                jobs.c.tenant,
                func.sum(case((jobs.c.status == "running", 1), else_=0)).label("running"),
                func.min(case((due, jobs.c.age + " " + jobs.c.id))).label("oldest"),
            )
            .group_by(jobs.c.tenant)
            .subquery()
        )
        in_turn = (
            select(waiting.c.tenant, waiting.c.running, waiting.c.oldest, Tenant.quotas)
            .join_from(waiting, Tenant, Tenant.name == waiting.c.tenant, isouter=True)
            .where(waiting.c.oldest.is_not(None))
            .order_by(waiting.c.running, func.coalesce(Tenant.served_at, 0.0), waiting.c.oldest)
        )
        for tenant, running_now, oldest, quotas in self._session.execute(in_turn):
            limit = Amounts.allowed(self._settings, quotas or {}).running_jobs
            if limit == 0 or running_now < limit:
                return _Next(tenant, oldest.partition(" ")[2])
        return None


def _unfinished(job: type[JobColumns]) -> Select[*tuple[Any, ...]]:
    """With what ids of all kinds have in common, by which they sort by age."""
    age = func.substr(job.id, func.length(job.id) - ID_LENGTH + 1, ID_LENGTH)
    columns = (job.tenant, job.id, job.status, job.not_before, job.cancel_requested)
    return select(*columns, cast(age, String).label("age")).where(job.status.in_(("queued", "running")))
