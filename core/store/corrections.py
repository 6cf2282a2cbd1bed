"""Corrections: a truth that was wrong is changed or annulled, and the verdict that rested on it is reconsidered."""

import numpy as np
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from certiset.core.bounds import MeanSupermartingale, Supermartingale
from certiset.core.errors import NotFoundError
from certiset.core.store.group_monitors import watch_groups
from certiset.core.store.monitors import Levels, locked_monitor, size_columns, take_over
from certiset.core.store.records import Monitor, OutcomeRecord


class Corrections:
    def __init__(self, session: Session) -> None:
        self._session = session

    def correct(
        self, tenant: str, prediction: str, levels: Levels, *, missed: bool | None, group: int | None = None
    ) -> OutcomeRecord:
        """Changes what became of a prediction, or annuls it, and reconsiders the verdict from all outcomes in order.

        One that was annulled counts again, behind all others, when it is corrected. One that repeats a case stays
        uncounted.
        """
        record = self.get(tenant, prediction)
        monitor = locked_monitor(self._session, tenant, record.predictor_id)
        self._session.refresh(record)
        if record.state == "repeated":
            return record
        if missed is not None:
            # Of a class the group is the truth, which another may have replaced.
            record.group_place = group
        was = self._missed(record)
        later = update(OutcomeRecord).where(
            OutcomeRecord.tenant == tenant,
            OutcomeRecord.predictor_id == record.predictor_id,
            OutcomeRecord.number > record.number,
        )
        if record.state == "annulled" and missed is not None:
            monitor.outcomes, monitor.misses = monitor.outcomes + 1, monitor.misses + missed
            record.state, record.number, record.misses = "counted", monitor.outcomes, monitor.misses
        elif record.state == "counted" and missed is None:
            self._session.execute(
                later.values(number=OutcomeRecord.number - 1, misses=OutcomeRecord.misses - int(was)),
                execution_options={"synchronize_session": False},
            )
            monitor.outcomes, monitor.misses = monitor.outcomes - 1, monitor.misses - was
            record.state, record.number, record.misses = "annulled", 0, 0
        elif record.state == "counted" and missed != was:
            change = 1 if missed else -1
            self._session.execute(
                later.values(misses=OutcomeRecord.misses + change), execution_options={"synchronize_session": False}
            )
            monitor.misses, record.misses = monitor.misses + change, record.misses + change
        self._session.flush()
        self._reconsider(monitor, levels)
        return record

    def get(self, tenant: str, prediction: str) -> OutcomeRecord:
        found = self._session.get(OutcomeRecord, (tenant, prediction))
        if found is None:
            raise NotFoundError("No outcome was reported for this prediction.")
        return found

    def was_missed(self, record: OutcomeRecord) -> bool | None:
        """Whether an outcome that counts was a miss; None if it does not count."""
        return self._missed(record) if record.state == "counted" else None

    def _missed(self, record: OutcomeRecord) -> bool:
        """Of one that counts: whether there is a miss more than before it."""
        before = self._session.scalar(
            select(OutcomeRecord.misses).where(
                OutcomeRecord.tenant == record.tenant,
                OutcomeRecord.predictor_id == record.predictor_id,
                OutcomeRecord.number == record.number - 1,
                OutcomeRecord.state == "counted",
            )
        )
        return record.misses > (before or 0)

    def _reconsider(self, monitor: Monitor, levels: Levels) -> None:
        record = OutcomeRecord
        chosen = (
            select(record.misses, record.size, record.size_promised, record.group_place)
            .where(record.tenant == monitor.tenant, record.predictor_id == monitor.predictor_id, record.number > 0)
            .order_by(record.number)
        )
        rows = self._session.execute(chosen).all()
        flags = np.diff([0, *(row.misses for row in rows)])
        sizes = [None if row.size is None else (row.size, row.size_promised) for row in rows]
        watched = [size[0] for size in sizes if size is not None]
        monitor.sizes, monitor.size_total = len(watched), float(sum(watched))
        coverage = Supermartingale(levels.alpha).update_many(flags)
        by_size = MeanSupermartingale().update_many(*size_columns(sizes))
        places = [row.group_place for row in rows]
        each = zip(places, (flags > 0).tolist(), strict=True)
        groups = watch_groups(monitor, levels, each, anew=True)
        take_over(self._session, monitor, levels, coverage, by_size, group_alarm=groups, reconsider=True)
        self._session.flush()
