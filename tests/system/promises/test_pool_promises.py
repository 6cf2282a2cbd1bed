"""The sizes of a pool over thousands of last blocks, from laws whose true mean and shares are known."""

import pytest

from benchmarks.evidence.promises.margin import within_margin
from benchmarks.evidence.promises.pool_mean_size import simulate

BLOCKS = 5000


@pytest.mark.parametrize("gamma", [0.05, 0.2])
@pytest.mark.parametrize("grid", [False, True])
def test_mean_and_quantile_are_broken_no_more_often_than_gamma(gamma: float, grid: bool) -> None:
    mean, quantile = simulate(runs=BLOCKS, seed=17, gamma=gamma, grid=grid)
    assert within_margin(mean.broken, BLOCKS, gamma), mean
    assert within_margin(quantile.broken, BLOCKS, gamma), quantile
    if not grid:
        assert quantile.broken > 0.4 * gamma * BLOCKS, "the law is exact but for whole ranks"
