"""A monitor's row: locked while it changes, and the verdict that follows from what was seen."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from certiset.core.bounds import MeanSupermartingale, Supermartingale
from certiset.core.store.clock import now
from certiset.core.store.records import Monitor


@dataclass(frozen=True)
class Levels:
    """What a monitor watches, and what each may contribute to false alarms."""

    alpha: float
    eta_coverage: float
    eta_size: float | None
    """None: no size is certified"""
    eta_group: float | None = None
    """of each group; None: no groups are promised"""


def locked_monitor(session: Session, tenant: str, predictor_id: str) -> Monitor:
    """The monitor's row, locked until the commit: outcomes are counted one request at a time."""
    found = session.get(Monitor, (tenant, predictor_id), with_for_update=True, populate_existing=True)
    if found is None:
        found = new_monitor(tenant, predictor_id)
        session.add(found)
        session.flush()
    return found


def new_monitor(tenant: str, predictor_id: str) -> Monitor:
    return Monitor(
        tenant=tenant,
        predictor_id=predictor_id,
        outcomes=0,
        misses=0,
        log_peak=0.0,
        contradicted_at=None,
        issued=0,
        reported=0,
        sizes=0,
        size_total=0.0,
        size_log_capitals=None,
        size_log_peak=0.0,
        groups=None,
    )


def coverage_seen(monitor: Monitor, alpha: float) -> Supermartingale:
    return Supermartingale(alpha, outcomes=monitor.outcomes, misses=monitor.misses, log_peak=monitor.log_peak)


def sizes_seen(monitor: Monitor) -> MeanSupermartingale:
    if monitor.size_log_capitals is None:
        return MeanSupermartingale()
    return MeanSupermartingale(tuple(monitor.size_log_capitals), monitor.size_log_peak)


def size_columns(sizes: Sequence[tuple[float, float] | None]) -> tuple[list[float], list[float]]:
    known = [size for size in sizes if size is not None]
    return [size for size, _ in known], [promised for _, promised in known]


def take_over(
    session: Session,
    monitor: Monitor,
    levels: Levels,
    coverage: Supermartingale,
    sizes: MeanSupermartingale,
    *,
    group_alarm: bool = False,
    reconsider: bool = False,
) -> None:
    """What was seen, and the verdict: a contradiction stays, unless all outcomes were reconsidered."""
    monitor.outcomes, monitor.misses, monitor.log_peak = coverage.outcomes, coverage.misses, coverage.log_peak
    monitor.size_log_capitals, monitor.size_log_peak = list(sizes.log_capitals), sizes.log_peak
    by_size = levels.eta_size is not None and sizes.contradicted(levels.eta_size)
    contradicted = coverage.contradicted(levels.eta_coverage) or by_size or group_alarm
    if contradicted and monitor.contradicted_at is None:
        monitor.contradicted_at = session.scalar(select(now()))
    elif reconsider and not contradicted:
        monitor.contradicted_at = None
