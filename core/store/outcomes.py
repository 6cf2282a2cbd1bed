"""Outcomes of served sets, each counted once, and the monitor that they feed."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from certiset.core.bounds import Supermartingale
from certiset.core.store.clock import now
from certiset.core.store.records import Monitor, OutcomeRecord


class Outcomes:
    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, tenant: str, predictor_id: str, missed: dict[str, bool], *, alpha: float, eta: float) -> int:
        """Counts the outcomes that are new, by their prediction's number and in the order given; returns how many."""
        monitor = self._locked(tenant, predictor_id)
        known = set(
            self._session.scalars(
                select(OutcomeRecord.prediction).where(
                    OutcomeRecord.tenant == tenant, OutcomeRecord.prediction.in_(missed)
                )
            )
        )
        fresh = {prediction: flag for prediction, flag in missed.items() if prediction not in known}
        before = Supermartingale(alpha, outcomes=monitor.outcomes, misses=monitor.misses, log_peak=monitor.log_peak)
        after = before.update_many(list(fresh.values()))
        number, misses = monitor.outcomes, monitor.misses
        for prediction, flag in fresh.items():
            number, misses = number + 1, misses + flag
            self._session.add(
                OutcomeRecord(
                    tenant=tenant, prediction=prediction, predictor_id=predictor_id, number=number, misses=misses
                )
            )
        monitor.outcomes, monitor.misses, monitor.log_peak = after.outcomes, after.misses, after.log_peak
        if monitor.contradicted_at is None and after.contradicted(eta):
            monitor.contradicted_at = self._session.scalar(select(now()))
        self._session.flush()
        return len(fresh)

    def monitor(self, tenant: str, predictor_id: str) -> Monitor:
        found = self._session.get(Monitor, (tenant, predictor_id))
        return found or Monitor(
            tenant=tenant, predictor_id=predictor_id, outcomes=0, misses=0, log_peak=0.0, contradicted_at=None
        )

    def path(self, tenant: str, predictor_id: str, points: int) -> list[tuple[int, int]]:
        """(outcomes, misses) over time, thinned to about that many points."""
        last = self.monitor(tenant, predictor_id).outcomes
        step = max(1, last // points)
        record = OutcomeRecord
        chosen = (
            select(record.number, record.misses)
            .where(record.tenant == tenant, record.predictor_id == predictor_id)
            .where((record.number % step == 0) | (record.number == last))
            .order_by(record.number)
        )
        return [(int(number), int(misses)) for number, misses in self._session.execute(chosen)]

    def contradicted(self) -> int:
        """The number of contradicted certificates, over all tenants."""
        chosen = select(Monitor.predictor_id).where(Monitor.contradicted_at.is_not(None))
        return len(self._session.execute(chosen).all())

    def contradicted_of(self, tenant: str) -> set[str]:
        """A tenant's predictors whose certificates are contradicted."""
        chosen = select(Monitor.predictor_id).where(Monitor.tenant == tenant, Monitor.contradicted_at.is_not(None))
        return set(self._session.scalars(chosen))

    def _locked(self, tenant: str, predictor_id: str) -> Monitor:
        """The monitor's row, locked until the commit: outcomes are counted one request at a time."""
        key = (tenant, predictor_id)
        found = self._session.get(Monitor, key, with_for_update=True)
        if found is None:
            found = Monitor(tenant=tenant, predictor_id=predictor_id, outcomes=0, misses=0, log_peak=0.0)
            self._session.add(found)
            self._session.flush()
        return found
