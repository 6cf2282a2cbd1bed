"""How the served sets of a predictor have done, and whether that contradicts what was promised."""

import math

from certiset.core.bounds import Supermartingale, miscoverage_interval
from certiset.core.jobs.outcomes import promised_miscoverage
from certiset.core.jobs.views import certificate_status, instant
from certiset.core.resources import Monitor, PathPoint
from certiset.core.store.store import Store

_PATH_POINTS = 500


def monitor_of(store: Store, tenant: str, predictor_id: str, eta: float) -> Monitor:
    with store.reading() as work:
        certificate_id = work.predictors.get(tenant, predictor_id).certificate_id
        alpha = promised_miscoverage(work, tenant, predictor_id)
        record = work.outcomes.monitor(tenant, predictor_id)
        path = work.outcomes.path(tenant, predictor_id, _PATH_POINTS)

    def capital(outcomes: int, misses: int) -> float:
        return Supermartingale(alpha, outcomes=outcomes, misses=misses).log_capital

    return Monitor(
        predictor_id=predictor_id,
        certificate_id=certificate_id,
        status=certificate_status(contradicted=record.contradicted_at is not None),
        promised_miscoverage=alpha,
        outcomes=record.outcomes,
        misses=record.misses,
        miscoverage=record.misses / record.outcomes if record.outcomes else None,
        interval=miscoverage_interval(record.outcomes, record.misses, eta),
        eta=eta,
        log_capital=capital(record.outcomes, record.misses),
        log_peak=record.log_peak,
        log_threshold=-math.log(eta),
        contradicted_at=instant(record.contradicted_at),
        path=tuple(PathPoint(outcomes=t, misses=s, log_capital=capital(t, s)) for t, s in path),
    )
