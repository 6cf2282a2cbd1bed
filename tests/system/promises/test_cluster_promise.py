"""Rows that belong together: with clusters the promise is kept, without them it is broken (and a caveat says so)."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from certiset.core.bounds import vovk_2b
from certiset.core.data.arrays import CheckedData
from certiset.core.fit import fit
from certiset.core.fit.options import FitOptions
from certiset.core.fit.plan import make_plan
from certiset.core.fit.splitting import count_units, split
from certiset.core.models import Model
from tests.system.promises.prior_of_scores import within_margin

SETS = 10_000
CLUSTERS = 120
ALPHA = 0.2
DELTA = 0.1


def broken() -> int:
    """Calibrations whose threshold misses too many new clusters.

    All rows of a cluster have the score of the cluster, uniform on [0, 1], and hard clusters are the large ones; the
    miscoverage of one random row of a new cluster is 1 - tau, exactly.
    """
    rng = np.random.default_rng(0)
    options = FitOptions.read({"alpha": ALPHA, "delta": DELTA, "method": "standard", "score": "residual"})
    resolved, failures = options.resolved("regression"), 0
    for seed in range(SETS):
        difficulty = rng.random(CLUSTERS)
        numbers = np.repeat(np.arange(CLUSTERS), 1 + np.floor(6 * difficulty).astype(int))
        scores = difficulty[numbers]
        given = CheckedData(np.zeros((len(scores), 1)), scores, clusters=numbers)
        plan = replace(make_plan(resolved, *count_units(given)), options=resolved.model_copy(update={"seed": seed}))
        chosen = np.sort(scores[split(plan.options.seed, plan.n_tune, given).calibration.numpy()])
        rank = int(vovk_2b(plan.n, ALPHA, DELTA))
        failures += 1 - chosen[plan.n - rank] > ALPHA
    return failures


def test_one_random_row_of_each_cluster_keeps_the_promise() -> None:
    failures = broken()
    assert within_margin(failures, SETS, DELTA), f"{failures} of {SETS}"
    assert failures > 0.5 * DELTA * SETS, "the setting must come close to breaking it"


def repeated_rows_break_it(times: int) -> int:
    """The same with equally many rows of each cluster, all of which calibrate."""
    rng = np.random.default_rng(1)
    n = CLUSTERS * times
    scores = np.sort(np.repeat(rng.random((2000, CLUSTERS)), times, axis=1), axis=1)
    return int((1 - scores[:, n - int(vovk_2b(n, ALPHA, DELTA))] > ALPHA).sum())


def test_rows_that_are_repeated_break_the_promise_without_clusters() -> None:
    assert within_margin(repeated_rows_break_it(1), 2000, DELTA)
    for times in (2, 5, 10):
        assert not within_margin(repeated_rows_break_it(times), 2000, DELTA)


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
