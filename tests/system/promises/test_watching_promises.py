"""A certificate that holds is contradicted with probability at most eta, however long it is watched."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import betaln

from certiset.core.bounds import Supermartingale, miscoverage_interval
from tests.system.promises.prior_of_scores import Array, within_margin

OUTCOMES = 10_000
STREAMS = 4_000
ETA = 0.05
ALPHA = 0.1


def always(_t: Array) -> Array:
    return np.full(OUTCOMES, ALPHA)


def drifting(t: Array) -> Array:
    return ALPHA * (0.75 + 0.25 * np.sin(t / 500))


def alarms(rate: Callable[[Array], Array], seed: int, eta: float = ETA) -> int:
    rng = np.random.default_rng(seed)
    chances = rate(np.arange(OUTCOMES, dtype=np.float64))
    return sum(
        Supermartingale(ALPHA).update_many(rng.random(OUTCOMES) < chances).contradicted(eta) for _ in range(STREAMS)
    )


@pytest.mark.parametrize("rate", [always, drifting])
@pytest.mark.parametrize("eta", [0.01, ETA, 0.2])
def test_false_alarms_stay_within_eta(rate: Callable[[Array], Array], eta: float) -> None:
    found = alarms(rate, seed=int(1000 * eta), eta=eta)
    assert within_margin(found, STREAMS, eta), f"{found} of {STREAMS}"


def test_a_slightly_broken_promise_raises_the_alarm_almost_always() -> None:
    assert alarms(lambda t: always(t) * 1.3, seed=3) > 0.95 * STREAMS


def test_the_interval_for_the_miscoverage_holds_at_every_moment_at_once() -> None:
    """Looked at after every outcome, it excludes the truth at any time in at most eta of the histories."""
    eta, histories, length = 0.1, 2000, 1000
    generator = np.random.default_rng(5)
    for p in (0.02, 0.1, 0.5):
        z = generator.random((histories, length)) < p
        misses, outcomes = np.cumsum(z, axis=1), np.arange(1, length + 1)
        log_martingale = (
            betaln(misses + 0.5, outcomes - misses + 0.5)
            - betaln(0.5, 0.5)
            - misses * np.log(p)
            - (outcomes - misses) * np.log1p(-p)
        )
        excluded = log_martingale >= -np.log(eta)
        # The same by the function itself, where the history is at its worst.
        for history in range(0, histories, 20):
            t = int(np.argmax(log_martingale[history]))
            low, high = miscoverage_interval(t + 1, int(misses[history, t]), eta)
            assert (low <= p <= high) == (not excluded[history, t])
        rate = excluded.any(axis=1).mean()
        assert rate <= eta + 3 * np.sqrt(eta * (1 - eta) / histories)
        assert rate > eta / 20, "an interval that never fails is wider than it need be"
