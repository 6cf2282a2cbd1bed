"""Which rows tune and which calibrate: by row, by cluster, by time."""

from typing import Any

import numpy as np
import pytest
import torch

from certiset.core.data.arrays import CheckedData
from certiset.core.fit.methods import METHODS
from certiset.core.fit.options import FitOptions
from certiset.core.fit.plan import Plan
from certiset.core.fit.splitting import Split, count_units, split

ROWS = 400


def data(clusters: Any = None, times: Any = None) -> CheckedData:
    return CheckedData(np.zeros((ROWS, 1)), np.zeros(ROWS), clusters=clusters, times=times)


def plan_of(given: CheckedData, seed: int = 0, **options: Any) -> Plan:
    read = FitOptions.read({"seed": seed, "score": "residual", "method": "learned", **options})
    return METHODS[read.method].plan(read.resolved("regression", "per_draw"), *count_units(given))


def parts(given: CheckedData, **options: Any) -> Split:
    plan = plan_of(given, **options)
    return split(plan.options.seed, plan.n_tune, given)


def rows_of(places: torch.Tensor | None) -> set[int]:
    return set() if places is None else set(places.tolist())


def test_without_clusters_and_times_every_row_is_used_once_as_the_seed_says() -> None:
    found = parts(data(), seed=3)
    assert found.tuning is not None
    order = torch.randperm(ROWS, generator=torch.Generator().manual_seed(3))
    assert torch.equal(torch.cat([found.tuning, found.calibration]), order)
    assert torch.equal(found.in_sequence, torch.arange(ROWS))


def test_one_row_of_each_calibration_cluster_calibrates_and_all_rows_of_the_others_tune() -> None:
    clusters = np.random.default_rng(0).permutation(np.repeat(np.arange(100), 4))
    found = parts(data(clusters))
    tuned, calibrated = rows_of(found.tuning), rows_of(found.calibration)
    assert len(found.calibration) == 50
    assert len(set(clusters[list(calibrated)])) == 50
    assert tuned == set(np.flatnonzero(~np.isin(clusters, clusters[list(calibrated)])).tolist())
    assert len(found.in_sequence) == 100
    assert found.in_sequence.tolist() == sorted(found.in_sequence.tolist())
    assert calibrated <= rows_of(found.in_sequence)


def test_without_tuning_one_row_of_every_cluster_calibrates() -> None:
    found = parts(data(np.repeat(np.arange(100), 4)), method="standard")
    assert found.tuning is None
    assert len(found.calibration) == 100


def test_every_row_of_a_cluster_is_equally_likely_to_calibrate() -> None:
    sizes = np.tile([1, 2, 5], 50)
    given = data(np.repeat(np.arange(150), sizes))
    counts = np.zeros(ROWS)
    for seed in range(300):
        counts[parts(given, seed=seed, method="standard").calibration.numpy()] += 1
    expected = 300 / np.repeat(sizes, sizes)
    assert np.abs(counts - expected).max() < 5 * np.sqrt(expected).max()
    assert np.all(counts[expected == 300] == 300)


def test_the_same_seed_gives_the_same_rows() -> None:
    given = data(np.repeat(np.arange(200), 2))
    assert torch.equal(parts(given, seed=7).calibration, parts(given, seed=7).calibration)
    assert not torch.equal(parts(given, seed=7).calibration, parts(given, seed=8).calibration)


def test_with_times_the_latest_rows_calibrate() -> None:
    times = np.random.default_rng(0).permutation(ROWS) / 7.0
    found = parts(data(times=times))
    assert found.tuning is not None
    assert times[found.calibration.numpy()].min() > times[found.tuning.numpy()].max()
    assert np.all(np.diff(times[found.in_sequence.numpy()]) > 0)
    # The tuning rows come in random order: what looks at the first few of them must not see the oldest alone.
    assert abs(np.corrcoef(np.arange(len(found.tuning)), times[found.tuning.numpy()])[0, 1]) < 0.3


def test_with_times_and_clusters_the_clusters_that_end_last_calibrate() -> None:
    clusters = np.repeat(np.arange(100), 4)
    times = np.random.default_rng(0).normal(size=ROWS)
    found = parts(data(clusters, times))
    ends = np.array([times[clusters == number].max() for number in range(100)])
    chosen = clusters[found.calibration.numpy()]
    assert set(chosen) == set(np.argsort(ends)[50:])


def test_too_few_clusters_are_counted_as_clusters() -> None:
    with pytest.raises(ValueError, match=r"40 clusters leave n = 20 for calibration.* clusters in all"):
        parts(data(np.repeat(np.arange(40), 10)))
