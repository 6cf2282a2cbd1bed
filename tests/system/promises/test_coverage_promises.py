"""The coverage promises against an adversary who sees the true miscoverage, over 20,000 calibration sets each."""

import numpy as np
import pytest

from certiset.core.bounds import PosteriorBound, beta_tail, kl_budget, per_draw_rank
from tests.system.promises.prior_of_scores import FUNCTIONS, World, batches, within_margin, worst_mean

SETS = 20_000
BATCH = 500
N = 60
ALPHA = 0.3
DELTA = 0.1
WORLDS = [World(), World(ties=7)]


def posterior_failures(world: World, k: int, nats: float, seed: int) -> int:
    """In how many calibration sets some posterior within ``nats`` of the prior misses more often than ALPHA."""
    rng = np.random.default_rng(seed)
    failures = 0
    for size in batches(SETS, BATCH):
        scores = world.scores(rng, size, N)
        missed = world.miscoverage(scores[:, :, N - k])  # (sets, functions)
        failures += int((worst_mean(missed, nats) > ALPHA + 1e-12).sum())
    return failures


@pytest.mark.parametrize("world", WORLDS, ids=["continuous", "ties"])
@pytest.mark.parametrize(
    ("bound", "k"), [("seeger", 5), ("seeger", 7), ("seeger", 8), ("chernoff", 6), ("chernoff", 8), ("chernoff", 10)]
)
def test_no_posterior_within_the_budget_breaks_the_promise(bound: PosteriorBound, world: World, k: int) -> None:
    nats = float(kl_budget(N, k, ALPHA, DELTA, bound))
    assert nats > 0, "the setting must leave the adversary something to spend"
    failures = posterior_failures(world, k, nats, seed=k)
    assert within_margin(failures, SETS, DELTA), f"{failures} of {SETS}"


def test_the_adversary_would_notice_a_budget_that_is_too_large() -> None:
    k = 10
    nats = float(kl_budget(N, k, ALPHA, DELTA, "chernoff")) + 3.0
    assert not within_margin(posterior_failures(World(), k, nats, seed=1), SETS, DELTA)


def per_draw_failures(world: World, ranks: list[int], draws: int, delta: float, seed: int) -> int:
    """In how many calibration sets some served pair misses more often than ALPHA, the adversary choosing Q.

    The worst Q gives each score function the largest probability with which it is still served at the smallest rank at
    which it misses too often, and spreads the rest so thinly that it does no harm to the adversary.
    """
    rng = np.random.default_rng(seed)
    weight = 1 / len(ranks)
    tails = np.array([beta_tail(N, k, ALPHA) for k in ranks])
    allowed = np.minimum(delta * weight / draws / tails, FUNCTIONS)  # largest e^rho at each rank
    failures = 0
    for size in batches(SETS, BATCH):
        scores = world.scores(rng, size, N)
        missed = np.stack([world.miscoverage(scores[:, :, N - k]) for k in ranks], axis=-1)  # (sets, functions, ranks)
        bad = missed > ALPHA + 1e-12
        caps = np.where(bad, allowed, 0.0).max(axis=-1) / FUNCTIONS  # (sets, functions)
        total = caps.sum(axis=-1, keepdims=True)
        q = np.where(total > 1, caps / np.maximum(total, 1e-300), caps)
        failures += sum(
            _served_badly(q[i], missed[i], ranks, draws, delta, rng) for i in np.flatnonzero(total[:, 0] > 0)
        )
    return failures


def _served_badly(
    q: np.ndarray, missed: np.ndarray, ranks: list[int], draws: int, delta: float, rng: np.random.Generator
) -> bool:
    """Draws from Q, serves by the rule of `per_draw_rank`, and looks at the truth."""
    cumulative = np.cumsum(q)
    places = np.searchsorted(cumulative, rng.random(draws), side="right")
    chosen = places[places < FUNCTIONS]  # the rest of the mass went to score functions that keep the promise
    if chosen.size == 0:
        return False
    log_ratio = np.log(q[chosen] * FUNCTIONS) - 1e-12
    served = np.asarray(per_draw_rank(N, ALPHA, delta, log_ratio, ranks, None, draws))
    column = {k: i for i, k in enumerate(ranks)}
    return any(k > 0 and missed[m, column[k]] > ALPHA + 1e-12 for m, k in zip(chosen, served.tolist(), strict=True))


@pytest.mark.parametrize("world", WORLDS, ids=["continuous", "ties"])
@pytest.mark.parametrize(
    ("ranks", "draws"),
    [([10], 1), ([13], 1), ([8, 10, 12, 13], 1), ([8, 10, 12], 4)],
    ids=["one rank", "the largest rank", "four ranks", "three ranks, four draws"],
)
def test_every_served_pair_keeps_the_promise(ranks: list[int], draws: int, world: World) -> None:
    failures = per_draw_failures(world, ranks, draws, DELTA, seed=sum(ranks) + draws)
    assert within_margin(failures, SETS, DELTA), f"{failures} of {SETS}"


def test_the_per_draw_promise_is_tight_for_one_rank() -> None:
    """The adversary can use up nearly all of delta, so that nothing is left to gain."""
    failures = per_draw_failures(World(), [13], 1, DELTA, seed=3)
    assert failures > 0.8 * DELTA * SETS


def test_the_adversary_would_notice_a_per_draw_rule_that_is_too_generous() -> None:
    failures = per_draw_failures(World(), [13], 1, 1.5 * DELTA, seed=4)
    assert not within_margin(failures, SETS, DELTA)
