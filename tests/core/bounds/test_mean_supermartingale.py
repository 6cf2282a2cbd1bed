"""The bet against a certified mean, and how it relates to the bet against a miscoverage."""

import numpy as np
import pytest

from certiset.core.bounds import DomainError, MeanSupermartingale, Supermartingale


def test_for_misses_it_is_the_supermartingale_of_outcomes() -> None:
    flags = np.random.default_rng(0).random(500) < 0.2
    misses = Supermartingale(0.1).update_many(flags)
    mean = MeanSupermartingale().update_many(flags, np.full(500, 0.1))
    assert (mean.log_capital, mean.log_peak) == pytest.approx((misses.log_capital, misses.log_peak))
    assert mean.contradicted(0.01) == misses.contradicted(0.01) is True


def test_in_parts_it_is_the_same_as_at_once() -> None:
    random = np.random.default_rng(1)
    values, promised = random.random(300), random.uniform(0.4, 0.6, 300)
    whole, parts = MeanSupermartingale().update_many(values, promised), MeanSupermartingale()
    for start in range(0, 300, 7):
        parts = parts.update_many(values[start : start + 7], promised[start : start + 7])
    assert parts.log_capitals == pytest.approx(whole.log_capitals)
    assert parts.log_peak == pytest.approx(whole.log_peak)
    assert whole.update_many([], []) is whole


@pytest.mark.parametrize(("values", "promised"), [([1.5], [0.5]), ([-0.1], [0.5]), ([0.5], [0.0]), ([0.5, 0.5], [0.5])])
def test_what_is_no_share_is_refused(values: list[float], promised: list[float]) -> None:
    with pytest.raises(DomainError):
        MeanSupermartingale().update_many(values, promised)
