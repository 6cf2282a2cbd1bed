"""The size of a pool's sets on its last block: kept as often as promised, and computed from counts alone."""

import math

import numpy as np
import pytest

from benchmarks.evidence.promises import pool_mean_size, progressive_pool
from benchmarks.evidence.promises.family import Case
from benchmarks.evidence.promises.margin import within_margin
from certiset.core.bounds import DomainError, SizeCounts, size_quantile_rank
from certiset.core.certificate.pool_sizes import PoolSizes, drawn_members, pool_sizes, pool_upper_bound

TRIALS = 20_000


def found(sizes: object, weights: list[float], **changes: object) -> PoolSizes:
    settings = {"cap": 10.0, "labels": True, "gamma": 0.05, "grid_size": 64, "seed": 0, **changes}
    return pool_sizes(sizes, weights, **settings)  # type: ignore[arg-type]


def test_the_mean_of_each_row_is_counted_rounded_up() -> None:
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 4, (400, 3)).astype(float)
    weights = [0.2, 0.3, 0.5]
    pool = found(sizes, weights)
    assert pool.counts is not None
    assert (pool.counts.rows, pool.counts.steps) == (400, 10 * 1024)
    mean = float((sizes @ weights).mean())
    assert mean <= 10 * pool.counts.mean <= mean + 1 / 1024
    assert pool.means == pytest.approx((sizes.mean(axis=0) / 10).tolist())
    assert pool.upper_bound == pool_upper_bound(pool.counts, 0.05, 10.0, 64)
    again = SizeCounts.from_json(pool.counts.steps, pool.counts.to_json())
    assert pool_upper_bound(again, 0.05, 10.0, 64) == pool.upper_bound
    assert mean < (pool.upper_bound or 0) < 1.15 * mean


def test_one_grid_point_costs_less_than_many() -> None:
    sizes = np.random.default_rng(0).integers(1, 4, (400, 2)).astype(float)
    bounds = [found(sizes, [0.5, 0.5], grid_size=points).upper_bound or math.inf for points in (1, 8, 64)]
    assert bounds == sorted(bounds)
    assert bounds[0] < bounds[-1]


def test_beyond_the_grid_the_last_member_counts_as_the_cap_and_has_no_quantile() -> None:
    sizes = np.full((400, 2), 2.0)
    sizes[:, 1] = np.inf
    pool = found(sizes, [0.75, 0.25])
    assert pool.counts is not None
    assert 10 * pool.counts.mean == pytest.approx(0.75 * 2 + 0.25 * 10)
    # A quarter of the sets is of a size that nobody knows: no size that a tenth exceeds is known either.
    assert (pool.quantile, pool.quantile_rank) == (None, 0)
    rare = found(sizes, [0.99, 0.01])
    assert rare.quantile == 2.0


def test_widths_are_cut_member_by_member_and_the_quantile_is_not_cut() -> None:
    sizes = np.tile([1.0, 30.0], (400, 1))
    pool = found(sizes, [0.5, 0.5], labels=False, cap=4.0)
    assert pool.counts is not None
    assert 4 * pool.counts.mean == pytest.approx(2.5, abs=4 / 1024)
    assert pool.quantile == 30.0
    uncapped = found(sizes, [0.5, 0.5], labels=False, cap=None)
    assert (uncapped.counts, uncapped.upper_bound, uncapped.means, uncapped.quantile) == (None, None, None, 30.0)


def test_the_quantile_is_that_of_members_that_are_drawn_for_the_rows() -> None:
    sizes = np.arange(800.0).reshape(400, 2)
    pool = found(sizes, [0.3, 0.7], labels=False, cap=None, seed=3)
    served = np.sort(sizes[np.arange(400), drawn_members(400, np.array([0.3, 0.7]), 3)])
    rank = size_quantile_rank(400, 0.1, 0.05, grid_size=64)
    assert pool.quantile_rank == rank
    assert pool.quantile == served[400 - int(rank)]
    assert found(sizes[:20], [0.3, 0.7], labels=False, cap=None).quantile is None


def test_members_of_rows_are_drawn_by_the_weights_and_never_differently() -> None:
    counts = np.bincount(drawn_members(100_000, np.array([0.2, 0.3, 0.5]), 1))
    assert np.abs(counts / 100_000 - [0.2, 0.3, 0.5]).max() < 0.01
    assert drawn_members(12, np.array([0.5, 0.5]), 5).tolist() == [0, 1, 0, 1, 0, 1, 1, 1, 0, 0, 0, 1]


@pytest.mark.parametrize("sizes", [np.ones(5), np.ones((5, 3)), np.full((5, 2), np.nan)])
def test_sizes_have_a_row_for_each_row_and_a_column_for_each_member(sizes: object) -> None:
    with pytest.raises(DomainError):
        found(sizes, [0.5, 0.5])


@pytest.mark.parametrize("case", progressive_pool.FAMILY.cases[:-1], ids=lambda case: f"{case.name} {case.settings}")
def test_the_pool_keeps_its_promise(case: Case) -> None:
    (tally,) = progressive_pool.simulate(runs=TRIALS, seed=11, **case.settings)
    assert within_margin(tally.broken, TRIALS, tally.level), tally


def test_nothing_is_left_over_and_who_drops_the_best_member_is_noticed() -> None:
    (exact,) = progressive_pool.simulate(runs=TRIALS, seed=3, sizes=[150, 250], weights=[0.7, 0.3], delta=0.05)
    assert exact.broken > 0.9 * 0.05 * TRIALS
    (cheated,) = progressive_pool.simulate(runs=TRIALS, seed=3, sizes=[250, 250], delta=0.05, dropped="best")
    assert not within_margin(cheated.broken, TRIALS, 0.05)
    assert not cheated.promised


@pytest.mark.parametrize("grid", [False, True])
def test_mean_and_quantile_are_broken_no_more_often_than_gamma(grid: bool) -> None:
    for tally in pool_mean_size.simulate(runs=250, seed=5, gamma=0.2, grid=grid):
        assert within_margin(tally.broken, 250, 0.2), tally
