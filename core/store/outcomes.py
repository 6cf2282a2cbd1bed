"""Outcomes of served sets, each counted once a prediction and once a case, and the monitor that they feed."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from certiset.core.store.group_monitors import watch_groups
from certiset.core.store.monitors import (
    Levels,
    coverage_seen,
    locked_monitor,
    new_monitor,
    size_columns,
    sizes_seen,
    take_over,
)
from certiset.core.store.records import Monitor, OutcomeRecord


@dataclass(frozen=True)
class Reported:
    """The outcome of one prediction, as it was judged."""

    prediction: str
    """the prediction's number"""
    missed: bool
    case: str | None = None
    """hash of the case, or of the input, under which it counts once; None: as often as it is asked"""
    size: tuple[float, float] | None = None
    """of the set, as a share of the cap, and the mean that was promised for it; None: nothing was promised"""
    group: int | None = None
    """the place of the group that it belongs to, where groups are promised"""


class Outcomes:
    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, tenant: str, predictor_id: str, reported: Sequence[Reported], levels: Levels) -> list[Reported]:
        """Counts the outcomes that are new, by prediction and case, in the order given; returns those."""
        monitor = locked_monitor(self._session, tenant, predictor_id)
        fresh = self._fresh(tenant, reported)
        cases = self._known_cases(tenant, predictor_id, fresh)
        counted: list[Reported] = []
        number, misses = monitor.outcomes, monitor.misses
        for outcome in fresh:
            record = OutcomeRecord(tenant=tenant, prediction=outcome.prediction, predictor_id=predictor_id)
            if outcome.case is not None and outcome.case in cases:
                record.state, record.number, record.misses = "repeated", 0, 0
            else:
                cases.add(outcome.case)
                counted.append(outcome)
                number, misses = number + 1, misses + outcome.missed
                record.state, record.number, record.misses, record.case_hash = "counted", number, misses, outcome.case
                record.size, record.size_promised = outcome.size or (None, None)
                record.group_place = outcome.group
            self._session.add(record)
        monitor.reported += len(fresh)
        coverage = coverage_seen(monitor, levels.alpha).update_many([outcome.missed for outcome in counted])
        by_size = sizes_seen(monitor).update_many(*size_columns([outcome.size for outcome in counted]))
        groups = watch_groups(monitor, levels, [(outcome.group, outcome.missed) for outcome in counted])
        take_over(self._session, monitor, levels, coverage, by_size, group_alarm=groups)
        sizes = [outcome.size[0] for outcome in counted if outcome.size is not None]
        monitor.sizes, monitor.size_total = monitor.sizes + len(sizes), monitor.size_total + sum(sizes)
        self._session.flush()
        return counted

    def lock(self, tenant: str, predictor_id: str) -> Monitor:
        """The monitor as it is now, and as nobody else changes it until the commit."""
        return locked_monitor(self._session, tenant, predictor_id)

    def count_issued(self, tenant: str, predictor_id: str, sets: int) -> None:
        monitor = locked_monitor(self._session, tenant, predictor_id)
        monitor.issued += sets
        self._session.flush()

    def monitor(self, tenant: str, predictor_id: str) -> Monitor:
        found = self._session.get(Monitor, (tenant, predictor_id))
        return found or new_monitor(tenant, predictor_id)

    def path(self, tenant: str, predictor_id: str, points: int) -> list[tuple[int, int]]:
        """(outcomes, misses) over time, thinned to about that many points."""
        last = self.monitor(tenant, predictor_id).outcomes
        step = max(1, last // points)
        record = OutcomeRecord
        chosen = (
            select(record.number, record.misses)
            .where(record.tenant == tenant, record.predictor_id == predictor_id, record.number > 0)
            .where((record.number % step == 0) | (record.number == last))
            .order_by(record.number)
        )
        return [(int(number), int(misses)) for number, misses in self._session.execute(chosen)]

    def contradicted(self) -> int:
        """The number of contradicted certificates, over all tenants."""
        chosen = select(Monitor.predictor_id).where(Monitor.contradicted_at.is_not(None))
        return len(self._session.execute(chosen).all())

    def _fresh(self, tenant: str, reported: Sequence[Reported]) -> list[Reported]:
        """Those whose prediction was not reported before, the first of each."""
        given = {outcome.prediction: outcome for outcome in reversed(reported)}
        record = OutcomeRecord
        known = set(
            self._session.scalars(
                select(record.prediction).where(record.tenant == tenant, record.prediction.in_(given))
            )
        )
        return [
            outcome for outcome in reported if outcome is given[outcome.prediction] and outcome.prediction not in known
        ]

    def _known_cases(self, tenant: str, predictor_id: str, fresh: Sequence[Reported]) -> set[str | None]:
        named = {outcome.case for outcome in fresh if outcome.case is not None}
        record = OutcomeRecord
        chosen = select(record.case_hash).where(
            record.tenant == tenant, record.predictor_id == predictor_id, record.case_hash.in_(named)
        )
        return set(self._session.scalars(chosen)) if named else set()
