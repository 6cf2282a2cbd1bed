"""The certified quantile of the size over 20,000 calibration sets, from laws whose true shares are known."""

import pytest

from benchmarks.evidence.promises.margin import within_margin
from benchmarks.evidence.promises.size_quantile import simulate

SETS = 20_000


@pytest.mark.parametrize("gamma", [0.05, 0.2])
def test_a_threshold_that_was_fixed_uses_up_its_gamma_and_no_more(gamma: float) -> None:
    """One grid point, which is then the threshold's own: the law is exact, so that nothing is left over either."""
    (found,) = simulate(runs=SETS, seed=5, gamma=gamma, threshold="fixed")
    assert within_margin(found.broken, SETS, gamma), found
    assert found.broken > 0.5 * gamma * SETS


@pytest.mark.parametrize("gamma", [0.05, 0.2])
@pytest.mark.parametrize("threshold", ["grid", "labels", "drawn"])
def test_it_is_broken_no_more_often_than_gamma_whoever_chooses(threshold: str, gamma: float) -> None:
    (found,) = simulate(runs=SETS, seed=7, gamma=gamma, threshold=threshold)
    assert within_margin(found.broken, SETS, gamma), found
