"""The coverage promises against an adversary who sees the true miscoverage, over 20,000 calibration sets each."""

import numpy as np
import pytest
from scipy.stats import ks_2samp

from benchmarks.evidence.promises import per_draw, posterior_mean
from benchmarks.evidence.promises.margin import within_margin
from benchmarks.evidence.promises.score_world import World
from certiset.core.bounds import PosteriorBound

SETS = 20_000
DELTA = 0.1
TIES = [pytest.param(0, id="continuous"), pytest.param(7, id="ties")]


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize(
    ("bound", "k"), [("seeger", 5), ("seeger", 7), ("seeger", 8), ("chernoff", 6), ("chernoff", 8), ("chernoff", 10)]
)
def test_no_posterior_within_the_budget_breaks_the_promise(bound: PosteriorBound, ties: int, k: int) -> None:
    (found,) = posterior_mean.simulate(runs=SETS, seed=k, k=k, delta=DELTA, bound=bound, ties=ties)
    assert within_margin(found.broken, SETS, DELTA), found


def test_the_adversary_would_notice_a_budget_that_is_too_large() -> None:
    (found,) = posterior_mean.simulate(runs=SETS, seed=1, k=10, delta=DELTA, bound="chernoff", extra=3.0)
    assert not within_margin(found.broken, SETS, DELTA)


def per_draw_failures(ranks: list[int], draws: int, seed: int, ties: int = 0, generosity: float = 1.0) -> int:
    (found,) = per_draw.simulate(
        runs=SETS, seed=seed, ranks=ranks, draws=draws, delta=DELTA, ties=ties, generosity=generosity
    )
    return found.broken


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize(
    ("ranks", "draws"),
    [([10], 1), ([13], 1), ([8, 10, 12, 13], 1), ([8, 10, 12], 4)],
    ids=["one rank", "the largest rank", "four ranks", "three ranks, four draws"],
)
def test_every_served_pair_keeps_the_promise(ranks: list[int], draws: int, ties: int) -> None:
    failures = per_draw_failures(ranks, draws, seed=sum(ranks) + draws, ties=ties)
    assert within_margin(failures, SETS, DELTA), f"{failures} of {SETS}"


def test_the_per_draw_promise_is_tight_for_one_rank() -> None:
    """The adversary can use up nearly all of delta, so that nothing is left to gain."""
    assert per_draw_failures([13], 1, seed=3) > 0.8 * DELTA * SETS


def test_the_adversary_would_notice_a_per_draw_rule_that_is_too_generous() -> None:
    assert not within_margin(per_draw_failures([13], 1, seed=4, generosity=1.5), SETS, DELTA)


@pytest.mark.parametrize("ranks", [[3], [12, 5, 8]])
def test_thresholds_have_the_law_of_sorted_scores(ranks: list[int]) -> None:
    """The world draws thresholds by their own law; here beside scores that are really sorted, jointly by a sum."""
    rng, n, sets = np.random.default_rng(0), 60, 20_000
    drawn = World().thresholds(rng, sets, n, ranks, 2)
    scores = np.sort(rng.random((sets, n)), axis=1)[:, [n - k for k in ranks]]
    for place in range(len(ranks)):
        assert ks_2samp(drawn[:, 1, place], scores[:, place]).pvalue > 0.001
    assert ks_2samp(drawn[:, 0].sum(axis=-1), scores.sum(axis=-1)).pvalue > 0.001


def test_the_quick_look_for_the_worst_posterior_misses_none() -> None:
    """Against the worst mean of every set, sought by bisection."""
    rng, world = np.random.default_rng(0), World()
    missed = world.miscoverage(world.thresholds(rng, 2000, posterior_mean.N, [11], 64))[..., 0]
    for nats in (0.3, 1.0, 3.0, 5.0):
        worst = posterior_mean.worst_mean(missed, nats) > posterior_mean.ALPHA + 1e-12
        assert np.array_equal(posterior_mean.exceeds(missed, nats), worst)
        assert nats < 3 or worst.any()
