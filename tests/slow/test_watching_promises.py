"""A certificate that holds is contradicted with probability at most eta, however long it is watched."""

from collections.abc import Callable

import numpy as np
import pytest

from core.bounds import Supermartingale
from tests.slow.prior_of_scores import Array, within_margin

pytestmark = pytest.mark.slow

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
