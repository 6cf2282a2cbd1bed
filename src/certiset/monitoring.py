"""`certiset.monitor`: whether outcomes contradict a certificate, for whoever serves sets without the service."""

import math

import numpy as np
from numpy.typing import ArrayLike

from certiset.core.bounds import Supermartingale, miscoverage_interval
from certiset.core.certificate import Certificate
from certiset.core.certificate.guarantees import guarantee_of
from certiset.core.errors import DataError, OptionError
from certiset.core.monitor_resources import Monitor, PathPoint

_PATH_POINTS = 500


def monitor(certificate: Certificate, covered: ArrayLike, eta: float = 0.01) -> Monitor:
    """What outcomes say of a certificate: ``covered`` has one truth value for each, in the order in which they came.

    That is what `contains` of a batch of sets answers. If the promise holds, the chance that it is ever contradicted is
    at most ``eta``, however often one looks.
    """
    seen = np.asarray(covered)
    if seen.dtype != np.bool_ or seen.ndim != 1:
        raise DataError(
            "covered must hold one truth value for each outcome, as sets.contains(y) does.", field="covered"
        )
    if not 0 < eta < 1:
        raise OptionError(f"eta must be between 0 and 1, not {eta}.", field="eta")
    alpha = guarantee_of(certificate.coverage).promised_alpha(certificate.coverage)
    state = Supermartingale(alpha).update_many(~seen)
    misses = np.cumsum(~seen)
    steps = np.unique(np.linspace(1, len(seen), min(len(seen), _PATH_POINTS)).astype(int)).tolist() if len(seen) else []
    path = [(count, int(misses[count - 1])) for count in steps]
    return Monitor(
        predictor_id=certificate.predictor_id,
        certificate_id=certificate.id,
        status="contradicted" if state.contradicted(eta) else "consistent",
        promised_miscoverage=alpha,
        outcomes=state.outcomes,
        misses=state.misses,
        miscoverage=state.misses / state.outcomes if state.outcomes else None,
        interval=miscoverage_interval(state.outcomes, state.misses, eta),
        eta=eta,
        log_capital=state.log_capital,
        log_peak=state.log_peak,
        log_threshold=-math.log(eta),
        contradicted_at=None,
        path=tuple(
            PathPoint(outcomes=n, misses=m, log_capital=Supermartingale(alpha, outcomes=n, misses=m).log_capital)
            for n, m in path
        ),
        contradicted_by=("coverage",) if state.contradicted(eta) else (),
        eta_coverage=eta,
    )
