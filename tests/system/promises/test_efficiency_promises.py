"""The efficiency promises against an adversary who sees the true sizes."""

import pytest

from benchmarks.evidence.promises import size_bounds
from benchmarks.evidence.promises.margin import within_margin
from certiset.core.bounds import EfficiencyBound

SETS = 20_000
FEW_SETS = 2000
"""of a crowd, in which each has 4096 score functions"""
GAMMA = 0.1


@pytest.mark.parametrize(
    ("hard", "bound"),
    [(False, "theorem2"), (True, "monotone"), (False, "monotone"), (True, "grid_kl"), (False, "grid_kl")],
    ids=["theorem2", "monotone hard", "monotone smooth", "grid_kl hard", "grid_kl smooth"],
)
def test_no_posterior_has_larger_sets_than_promised(hard: bool, bound: EfficiencyBound) -> None:
    found = size_bounds.posterior(runs=SETS, seed=1, bound=bound, hard=hard, gamma=GAMMA)
    assert within_margin(found.broken, SETS, GAMMA), found


@pytest.mark.parametrize("bound", ["monotone", "grid_kl"])
def test_a_crowd_of_score_functions_does_not_break_the_promise(bound: EfficiencyBound) -> None:
    found = size_bounds.crowd(runs=FEW_SETS, seed=6, bound=bound, gamma=GAMMA)
    assert within_margin(found.broken, FEW_SETS, GAMMA), found


@pytest.mark.parametrize(("bound", "gamma"), [("monotone", GAMMA), ("grid_kl", 0.999)])
def test_the_crowd_would_notice_a_bound_that_forgets_the_price_of_choosing(
    bound: EfficiencyBound, gamma: float
) -> None:
    found = size_bounds.crowd(runs=FEW_SETS, seed=7, bound=bound, gamma=gamma, kl=0.0)
    assert not within_margin(found.broken, FEW_SETS, GAMMA)


@pytest.mark.parametrize("bound", ["monotone", "grid_kl"])
@pytest.mark.parametrize("draws", [1, 4])
def test_every_draw_has_sets_no_larger_than_promised(bound: EfficiencyBound, draws: int) -> None:
    found = size_bounds.draws(runs=SETS, seed=draws, bound=bound, draws=draws, gamma=GAMMA)
    assert within_margin(found.broken, SETS, GAMMA), found
