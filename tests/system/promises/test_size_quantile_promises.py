"""The certified quantile of the size over 20,000 calibration sets, from a law whose true share is known."""

import numpy as np
import pytest
from scipy.stats import lognorm

from certiset.core.bounds import size_quantile_rank
from tests.system.promises.prior_of_scores import batches, within_margin

SETS = 20_000
N = 300
RANK = 21
"""of the threshold"""
SHARE = 0.1
GRID = np.geomspace(0.5, 2.0, 8)


def broken(gamma: float, grid_size: int, grid: np.ndarray, seed: int) -> int:
    """How often more than the promised share of sets is larger than the certified size.

    Scores are uniform, and the size of a set at threshold t is t times a log-normal width of the input.
    """
    rng = np.random.default_rng(seed)
    k = int(size_quantile_rank(N, SHARE, gamma, grid_size=grid_size))
    assert k >= 1
    count = 0
    for sets in batches(SETS, 1000):
        tau = np.partition(rng.random((sets, N)), N - RANK, axis=1)[:, N - RANK]
        rounded = grid[np.searchsorted(grid, tau)]
        widths = np.exp(rng.normal(size=(sets, N)))
        certified = rounded * np.partition(widths, N - k, axis=1)[:, N - k]
        count += int(np.sum(lognorm.sf(certified / tau, s=1.0) > SHARE))
    return count


@pytest.mark.parametrize("gamma", [0.05, 0.2])
def test_a_threshold_that_was_fixed_uses_up_its_gamma_and_no_more(gamma: float) -> None:
    """One grid point, which is then the threshold's own: the law is exact, so that nothing is left over either."""
    rng = np.random.default_rng(5)
    k = int(size_quantile_rank(N, SHARE, gamma))
    count = 0
    for sets in batches(SETS, 1000):
        widths = np.exp(rng.normal(size=(sets, N)))
        certified = np.partition(widths, N - k, axis=1)[:, N - k]
        count += int(np.sum(lognorm.sf(certified, s=1.0) > SHARE))
    assert within_margin(count, SETS, gamma)
    assert count > 0.5 * gamma * SETS


@pytest.mark.parametrize("gamma", [0.05, 0.2])
def test_with_a_grid_it_is_broken_no_more_often_than_gamma(gamma: float) -> None:
    assert within_margin(broken(gamma, len(GRID), GRID, 7), SETS, gamma)
