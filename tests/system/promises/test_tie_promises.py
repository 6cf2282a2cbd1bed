"""Ties that are broken by a hash: the promise is kept, all of delta is used, and rounding cannot break it."""

import pytest
from scipy.stats import beta

from benchmarks.evidence.promises.family import Case
from benchmarks.evidence.promises.margin import within_margin
from benchmarks.evidence.promises.ties import FAMILY, simulate
from certiset.core.bounds import vovk_2b

RUNS = 5000


@pytest.mark.parametrize("case", FAMILY.cases, ids=lambda case: f"{case.name}, delta = {case.settings['delta']}")
def test_no_more_than_delta_of_the_thresholds_miss_more_than_alpha(case: Case) -> None:
    settings = case.settings
    (found,) = simulate(runs=RUNS, seed=1, **settings)
    assert within_margin(found.broken, RUNS, settings["delta"]), found
    if settings["place"] == "in the middle of cells":
        rank = int(vovk_2b(settings["n"], settings["alpha"], settings["delta"]))
        law = beta(rank, settings["n"] + 1 - rank)
        assert abs(found.facts["missed"] - law.mean()) < 4 * law.std() / RUNS**0.5
