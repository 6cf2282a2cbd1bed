"""The certified quantile of the size over 20,000 calibration sets, from a law whose true share is known."""

import pytest

from benchmarks.evidence.promises.margin import within_margin
from benchmarks.evidence.promises.size_quantile import simulate

SETS = 20_000


@pytest.mark.parametrize("gamma", [0.05, 0.2])
def test_a_threshold_that_was_fixed_uses_up_its_gamma_and_no_more(gamma: float) -> None:
    """One grid point, which is then the threshold's own: the law is exact, so that nothing is left over either."""
    (found,) = simulate(runs=SETS, seed=5, gamma=gamma, grid=False)
    assert within_margin(found.broken, SETS, gamma), found
    assert found.broken > 0.5 * gamma * SETS


@pytest.mark.parametrize("gamma", [0.05, 0.2])
def test_with_a_grid_it_is_broken_no_more_often_than_gamma(gamma: float) -> None:
    (found,) = simulate(runs=SETS, seed=7, gamma=gamma, grid=True)
    assert within_margin(found.broken, SETS, gamma), found
