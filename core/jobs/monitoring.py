"""How the served sets of a predictor have done, and whether that contradicts what was promised."""

import math

from certiset.core.bounds import Supermartingale, miscoverage_interval
from certiset.core.jobs.views import certificate_status, instant
from certiset.core.jobs.watching import Watched, watched
from certiset.core.monitor_resources import GroupMonitor, Monitor, PathPoint, SizeMonitor
from certiset.core.store import records
from certiset.core.store.group_monitors import groups_seen
from certiset.core.store.monitors import Levels, sizes_seen
from certiset.core.store.store import Store

_PATH_POINTS = 500
_ENOUGH = 0.5
"""below this share of outcomes that are reported, the verdict is about too few"""


def monitor_of(store: Store, tenant: str, predictor_id: str, eta: float) -> Monitor:
    with store.reading() as work:
        certificate_id = work.predictors.get(tenant, predictor_id).certificate_id
        promised = watched(work, tenant, predictor_id)
        record = work.outcomes.monitor(tenant, predictor_id)
        path = work.outcomes.path(tenant, predictor_id, _PATH_POINTS)
    levels = promised.levels(eta)

    def capital(outcomes: int, misses: int) -> float:
        return Supermartingale(promised.alpha, outcomes=outcomes, misses=misses).log_capital

    share = min(1.0, record.reported / record.issued) if record.issued else None
    return Monitor(
        predictor_id=predictor_id,
        certificate_id=certificate_id,
        status=certificate_status(contradicted=record.contradicted_at is not None),
        promised_miscoverage=promised.alpha,
        outcomes=record.outcomes,
        misses=record.misses,
        miscoverage=record.misses / record.outcomes if record.outcomes else None,
        interval=miscoverage_interval(record.outcomes, record.misses, eta),
        eta=eta,
        log_capital=capital(record.outcomes, record.misses),
        log_peak=record.log_peak,
        log_threshold=-math.log(levels.eta_coverage),
        contradicted_at=instant(record.contradicted_at),
        path=tuple(PathPoint(outcomes=t, misses=s, log_capital=capital(t, s)) for t, s in path),
        contradicted_by=_contradicted_by(record, levels),
        eta_coverage=levels.eta_coverage,
        size=_size(record, promised, levels),
        issued=record.issued,
        reported=record.reported,
        share=share,
        caveats=() if share is None or share >= _ENOUGH else (_few(share),),
        groups=_groups(record, promised, levels),
        eta_group=levels.eta_group,
    )


def _contradicted_by(record: records.Monitor, levels: Levels) -> tuple[str, ...]:
    if record.contradicted_at is None:
        return ()
    by_size = levels.eta_size is not None and sizes_seen(record).contradicted(levels.eta_size)
    # A verdict from before sizes were watched, with the whole of eta, was by coverage.
    seen = groups_seen(record, levels.alpha).values()
    by_group = levels.eta_group is not None and any(one.contradicted(levels.eta_group) for one in seen)
    by_coverage = record.log_peak >= -math.log(levels.eta_coverage) or not (by_size or by_group)
    found = (("coverage", by_coverage), ("size", by_size), ("groups", by_group))
    return tuple(name for name, alarm in found if alarm)


def _groups(record: records.Monitor, promised: Watched, levels: Levels) -> tuple[GroupMonitor, ...] | None:
    if levels.eta_group is None:
        return None
    seen = groups_seen(record, levels.alpha)
    names = promised.labels if promised.by_class else None
    return tuple(
        _group(promised.groups[p], seen.get(p), promised.alpha, levels.eta_group, None if names is None else names[p])
        for p in sorted(promised.finite)
    )


def _group(
    name: tuple[str, ...], seen: Supermartingale | None, alpha: float, eta: float, label: str | None
) -> GroupMonitor:
    found = Supermartingale(alpha) if seen is None else seen
    return GroupMonitor(
        name=name,
        outcomes=found.outcomes,
        misses=found.misses,
        miscoverage=found.misses / found.outcomes if found.outcomes else None,
        interval=miscoverage_interval(found.outcomes, found.misses, eta),
        log_capital=found.log_capital,
        log_peak=found.log_peak,
        contradicted=found.contradicted(eta),
        label=label,
    )


def _size(record: records.Monitor, promised: Watched, levels: Levels) -> SizeMonitor | None:
    if promised.cap is None or promised.mean_size is None or levels.eta_size is None:
        return None
    seen = sizes_seen(record)
    return SizeMonitor(
        promised=promised.mean_size,
        cap=promised.cap,
        sets=record.sizes,
        mean=promised.cap * record.size_total / record.sizes if record.sizes else None,
        eta=levels.eta_size,
        log_capital=seen.log_capital,
        log_peak=seen.log_peak,
        log_threshold=-math.log(levels.eta_size),
    )


def _few(share: float) -> str:
    return (
        f"Only {100 * share:.3g} % of the sets that were issued have a reported outcome: the verdict is about those, "
        "and says little if hits and misses are not reported alike."
    )
