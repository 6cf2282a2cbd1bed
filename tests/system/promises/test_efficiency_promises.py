"""The efficiency promises against an adversary who sees the true sizes, over 20,000 calibration sets each.

These bounds hold for the worst threshold, so no world uses up their gamma; a crowd of score functions shows at least
that they could not do without their price for the choice of Q. (Theorem 2's Lipschitz term leaves no adversary a
chance; its formula is held by the reference.)
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from certiset.core.bounds import EfficiencyBound, efficiency_bound, per_draw_efficiency_bound
from tests.system.promises.prior_of_scores import FUNCTIONS, Array, batches, within_margin

SETS = 20_000
BATCH = 1000
N = 50
K = 8
GAMMA = 0.1
GRID = np.linspace(0.05, 1.0, 20)
SLOPES = np.concatenate([[0.0], np.geomspace(1, 1000, 12)])


@dataclass(frozen=True)
class Size:
    """An efficiency that does not decrease in tau, whose expectation is known; v ~ U(0, 1), independent of scores."""

    value: Callable[[Array, Array], Array]
    expectation: Callable[[Array], Array]
    lipschitz: float


HARD = Size(lambda v, tau: (v <= tau).astype(np.float64), lambda tau: tau, np.inf)
SMOOTH = Size(lambda v, tau: np.minimum(v * tau, 1.0), lambda tau: tau / 2, 1.0)


def empirical_and_true(size: Size, rng: np.random.Generator, sets: int, on_grid: bool) -> tuple[Array, Array]:
    """Mean size on the calibration points and in truth, (sets, functions); scores are uniform on [0, 1]."""
    scores = rng.random((sets, FUNCTIONS, N))
    tau = np.partition(scores, N - K, axis=-1)[..., N - K]
    rounded = GRID[np.searchsorted(GRID, tau)] if on_grid else tau
    v = rng.random((sets, FUNCTIONS, N))
    return size.value(v, rounded[..., None]).mean(axis=-1), size.expectation(tau)


def failures(size: Size, bound: EfficiencyBound, gamma: float, seed: int) -> int:
    """In how many calibration sets some posterior of the adversary's family has a true size above its bound.

    The adversary tilts the prior towards score functions whose size is most understated, at thirteen slopes from not at
    all to a point mass, and also tries the one function with the largest gap.
    """
    rng = np.random.default_rng(seed)
    count = 0
    for sets in batches(SETS, BATCH):
        empirical, truth = empirical_and_true(size, rng, sets, on_grid=bound == "grid_kl")
        gap = truth - empirical
        failed = np.zeros(sets, dtype=bool)
        for slope in SLOPES:
            weights = np.exp(slope * (gap - gap.max(axis=-1, keepdims=True)))
            q = weights / weights.sum(axis=-1, keepdims=True)
            kl = (q * np.log(np.maximum(q * FUNCTIONS, 1e-300))).sum(axis=-1)
            promised = efficiency_bound(
                np.clip((q * empirical).sum(axis=-1), 0, 1),
                N,
                gamma,
                np.maximum(kl, 0),
                bound,
                grid_size=GRID.size,
                score_bound=1.0,
                lipschitz=size.lipschitz if np.isfinite(size.lipschitz) else None,
            )
            failed |= (q * truth).sum(axis=-1) > np.asarray(promised) + 1e-12
        count += int(failed.sum())
    return count


@pytest.mark.parametrize(
    ("size", "bound"),
    [(SMOOTH, "theorem2"), (HARD, "monotone"), (SMOOTH, "monotone"), (HARD, "grid_kl"), (SMOOTH, "grid_kl")],
    ids=["theorem2", "monotone hard", "monotone smooth", "grid_kl hard", "grid_kl smooth"],
)
def test_no_posterior_has_larger_sets_than_promised(size: Size, bound: EfficiencyBound) -> None:
    found = failures(size, bound, GAMMA, seed=1)
    assert within_margin(found, SETS, GAMMA), f"{found} of {SETS}"


CROWD = 4096
FEW = 20
COARSE = np.array([0.25, 0.5, 0.75, 1.0])


def crowd_failures(bound: EfficiencyBound, kl: float, gamma: float, seed: int) -> int:
    """Failures with few points and 4096 score functions, the adversary putting all mass on the most understated one.

    Sizes are hard, with thresholds around the median, where they vary most: here a bound cannot afford to forget its
    price for the choice of Q.
    """
    rng = np.random.default_rng(seed)
    count = 0
    for sets in batches(SETS, 200):
        tau = rng.beta(FEW // 2 + 1, FEW // 2, size=(sets, CROWD))
        rounded = COARSE[np.searchsorted(COARSE, tau)] if bound == "grid_kl" else tau
        empirical = rng.binomial(FEW, rounded) / FEW
        worst = np.argmax(tau - empirical, axis=-1)
        rows = np.arange(sets)
        promised = efficiency_bound(empirical[rows, worst], FEW, gamma, kl, bound, grid_size=COARSE.size)
        count += int((tau[rows, worst] > np.asarray(promised) + 1e-12).sum())
    return count


@pytest.mark.parametrize("bound", ["monotone", "grid_kl"])
def test_a_crowd_of_score_functions_does_not_break_the_promise(bound: EfficiencyBound) -> None:
    found = crowd_failures(bound, float(np.log(CROWD)), GAMMA, seed=6)
    assert within_margin(found, SETS, GAMMA), f"{found} of {SETS}"


@pytest.mark.parametrize(("bound", "gamma"), [("monotone", GAMMA), ("grid_kl", 0.999)])
def test_the_crowd_would_notice_a_bound_that_forgets_the_price_of_choosing(
    bound: EfficiencyBound, gamma: float
) -> None:
    assert not within_margin(crowd_failures(bound, 0.0, gamma, seed=7), SETS, GAMMA)


@pytest.mark.parametrize("bound", ["monotone", "grid_kl"])
@pytest.mark.parametrize("draws", [1, 4])
def test_every_draw_has_sets_no_larger_than_promised(bound: EfficiencyBound, draws: int) -> None:
    """Q tilts towards understated sizes; every draw's own log-ratio pays for it."""
    rng = np.random.default_rng(draws)
    count = 0
    for sets in batches(SETS, BATCH):
        empirical, truth = empirical_and_true(HARD, rng, sets, on_grid=bound == "grid_kl")
        gap = truth - empirical
        weights = np.exp(20 * (gap - gap.max(axis=-1, keepdims=True)))
        q = weights / weights.sum(axis=-1, keepdims=True)
        cumulative = np.cumsum(q, axis=-1)
        uniform = rng.random((sets, draws, 1))
        chosen = np.minimum((uniform > cumulative[:, None, :]).sum(axis=-1), FUNCTIONS - 1)  # (sets, draws)
        rows = np.arange(sets)[:, None]
        log_ratio = np.log(q[rows, chosen] * FUNCTIONS)
        promised = per_draw_efficiency_bound(
            empirical[rows, chosen], N, GAMMA, log_ratio, draws, bound, grid_size=GRID.size
        )
        count += int((truth[rows, chosen] > np.asarray(promised) + 1e-12).any(axis=-1).sum())
    assert within_margin(count, SETS, GAMMA), f"{count} of {SETS}"
