"""A certificate that holds is contradicted with probability at most eta, however long it is watched."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import betaln

from certiset.core.bounds import MeanSupermartingale, Supermartingale, miscoverage_interval
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


def test_a_certified_mean_size_that_holds_is_contradicted_with_probability_at_most_eta() -> None:
    """Sizes of two kinds of inputs, each member with a promise of its own, both exactly kept."""
    rng, found, streams = np.random.default_rng(11), 0, 2000
    for _ in range(streams):
        promised = np.where(rng.random(3000) < 0.5, 0.2, 0.4)
        sizes = np.where(rng.random(3000) < 0.25, rng.beta(2, 2, 3000) * 2 * promised * 0.8, 0) + 0.8 * promised
        found += MeanSupermartingale().update_many(sizes, promised).contradicted(ETA)
    assert within_margin(found, streams, ETA), f"{found} of {streams}"
    assert MeanSupermartingale().update_many(np.full(500, 0.3), np.full(500, 0.2)).contradicted(1e-6)


def counted_once(names: NDArray[np.int64], missed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Of outcomes in order, the first of each name."""
    return missed[np.sort(np.unique(names, return_index=True)[1])]


def test_each_input_asked_five_times_at_exactly_alpha_raises_no_more_false_alarms_than_eta() -> None:
    """Its outcome is one event, however often it is reported; counted as five it alarms 30 times too often."""
    rng, eta, streams, inputs, few = np.random.default_rng(7), 0.01, 2000, 500, 200
    once = every = 0
    names = np.repeat(np.arange(inputs), 5)
    for stream in range(streams):
        missed = np.repeat(rng.random(inputs) < ALPHA, 5)
        once += Supermartingale(ALPHA).update_many(counted_once(names, missed)).contradicted(eta)
        if stream < few:
            every += Supermartingale(ALPHA).update_many(missed).contradicted(eta)
    assert within_margin(once, streams, eta), f"{once} of {streams}"
    assert every > 10 * eta * few, "which is why"


def test_where_inputs_repeat_honestly_every_question_counts_and_none_is_a_false_alarm_too_many() -> None:
    """310 possible inputs: frequent ones are rarely missed, rare ones often, and alpha of all of them."""
    rng, eta, streams, questions = np.random.default_rng(8), 0.01, 1000, 5000
    chances = np.concatenate([np.full(10, 0.09), np.full(300, 0.1 / 300)])
    rates = np.concatenate([np.full(10, 0.01), np.full(300, 0.91)])
    assert chances @ rates == pytest.approx(ALPHA)
    once = every = 0
    for _ in range(streams):
        asked = rng.choice(310, size=questions, p=chances / chances.sum())
        missed = rng.random(questions) < rates[asked]
        once += Supermartingale(ALPHA).update_many(counted_once(asked, missed)).contradicted(eta)
        every += Supermartingale(ALPHA).update_many(missed).contradicted(eta)
    assert within_margin(every, streams, eta), f"{every} of {streams}"
    assert once > 0.9 * streams, "which is why inputs that repeat in calibration are not counted once"
