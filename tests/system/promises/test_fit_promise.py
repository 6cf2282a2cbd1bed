"""The promise of a whole fit, posterior step included, over 100 or 200 calibration sets."""

from typing import Any

import pytest
import torch

from benchmarks.evidence.promises import posterior_fits
from benchmarks.evidence.promises.family import Tally
from benchmarks.evidence.promises.margin import within_margin

SETS, DELTA = 200, 0.2
QUICK: dict[str, Any] = {
    "method": "pac_bayes",
    "prior": {"steps": 15},
    "optimizer": {"steps": 5},
    "alpha_hat": [0.1, 0.15],
    "members": 2,
}


def broken(problem: str, rows: int, options: dict[str, Any], sets: int = SETS) -> list[Tally]:
    torch.set_num_threads(1)
    return posterior_fits.simulate(runs=sets, seed=0, problem=problem, rows=rows, delta=DELTA, options=options)


@pytest.mark.parametrize("problem", ["growing noise", "classes"])
def test_every_member_of_a_fit_keeps_the_promise(problem: str) -> None:
    (found,) = broken(problem, 400, QUICK)
    assert within_margin(found.broken, SETS, DELTA), found


@pytest.mark.parametrize(
    ("problem", "rows", "options", "sets"),
    [("sensor", 300, posterior_fits.SENSOR, SETS), ("logits", 1000, posterior_fits.LOGITS, SETS // 2)],
    ids=["sensor", "logits"],
)
def test_every_member_keeps_the_promise_where_a_posterior_is_served(
    problem: str, rows: int, options: dict[str, Any], sets: int
) -> None:
    (found,) = broken(problem, rows, options, sets)
    assert found.facts["stepped"] > 1 / 4, "the setting must exercise the posterior step"
    assert within_margin(found.broken, sets, DELTA), found


def test_the_mean_over_a_posterior_and_its_pool_keep_what_is_said_of_them() -> None:
    options = {**posterior_fits.SENSOR, "guarantee": "posterior", "members": 8}
    mean, pool = broken("sensor", 300, options, SETS // 2)
    assert mean.facts["stepped"] > 1 / 4
    assert within_margin(mean.broken, SETS // 2, DELTA), mean
    assert within_margin(pool.broken, SETS // 2, pool.level), pool
