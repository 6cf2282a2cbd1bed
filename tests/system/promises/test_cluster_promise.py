"""Rows that belong together: with clusters the promise is kept, without them it is broken (and a caveat says so)."""

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.evidence.promises import clusters, duplicates
from benchmarks.evidence.promises.margin import within_margin
from certiset.core.fit import fit
from certiset.core.models import Model

SETS = 10_000
DELTA = 0.1


@pytest.mark.parametrize(("sizes", "runs"), [("hard ones are large", SETS), ("sizes at random", 2000)])
def test_one_random_row_of_each_cluster_keeps_the_promise(sizes: str, runs: int) -> None:
    (found,) = clusters.simulate(runs=runs, seed=0, sizes=sizes, delta=DELTA)
    assert within_margin(found.broken, runs, DELTA), found
    assert found.broken > 0.5 * DELTA * runs, "the setting must come close to breaking it"


def test_rows_that_are_repeated_break_the_promise_without_clusters() -> None:
    def broken(times: int) -> int:
        (found,) = duplicates.simulate(runs=2000, seed=1, times=times, delta=DELTA, clustered=False)
        return found.broken

    assert within_margin(broken(1), 2000, DELTA)
    for times in (2, 5, 10):
        assert not within_margin(broken(times), 2000, DELTA)


def test_rows_that_are_repeated_keep_it_where_equal_ones_are_one_cluster() -> None:
    (found,) = duplicates.simulate(runs=1000, seed=2, times=5, delta=DELTA)
    assert within_margin(found.broken, 1000, DELTA), found


def patients(rng: np.random.Generator, count: int) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """250 patients in 30 dimensions, whose label nothing in them explains, with 4 nearly equal rows each."""
    numbers = np.repeat(np.arange(count), 4)
    x = rng.normal(size=(count, 30))[numbers] + 1e-3 * rng.normal(size=(4 * count, 30))
    return x, rng.integers(10, size=count)[numbers], numbers


def test_a_tuned_head_that_has_seen_copies_of_the_calibration_rows_is_wrong_and_clusters_put_it_right() -> None:
    rng = np.random.default_rng(0)
    weights = {
        "head.0.weight": rng.normal(size=(64, 30)) / np.sqrt(30),
        "head.0.bias": np.zeros(64),
        "head.1.weight": rng.normal(size=(10, 64)) / 8,
        "head.1.bias": np.zeros(10),
    }
    head = {"kind": "mlp", "widths": [30, 64, 10], "activation": "relu"}
    model = Model.from_manifest(
        {"name": "m", "task": "classification", "classes": 10, "input_shape": [30], "head": head}, weights
    )
    x, y, numbers = patients(rng, 250)
    later_x, later_y, _ = patients(rng, 2000)

    alone = fit(model, x, y, method="learned")
    assert "near_equal_rows" in [caveat.code for caveat in alone.certificate.caveats]
    assert alone.predict_set(later_x).contains(later_y).mean() < 0.6

    together = fit(model, x, y, clusters=numbers, method="learned")
    assert "near_equal_rows" not in [caveat.code for caveat in together.certificate.caveats]
    assert together.predict_set(later_x).contains(later_y).mean() > 0.88
