"""Bounds on the mean size, cut at a cap, against an adversary who sees the true sizes.

These bounds hold for the worst threshold, so no world uses up their gamma; a crowd of score functions shows at least
that they could not do without their price for the choice of Q. (Theorem 2's Lipschitz term leaves no adversary a
chance; its formula is held by the reference.)
"""

from collections.abc import Callable

import numpy as np

from benchmarks.evidence.promises.family import Case, Family, Tally
from benchmarks.evidence.promises.score_world import FUNCTIONS, Array, batches
from certiset.core.bounds import EfficiencyBound, efficiency_bound, per_draw_efficiency_bound

N, K = 50, 8
GRID = np.linspace(0.05, 1.0, 20)
CROWD, FEW, COARSE = 4096, 20, np.array([0.25, 0.5, 0.75, 1.0])
_SLOPES = np.concatenate([[0.0], np.geomspace(1, 1000, 12)])
_BATCH = 1000
SAID = "no mean size is larger than certified"


def empirical_and_true(hard: bool, rng: np.random.Generator, sets: int, on_grid: bool) -> tuple[Array, Array]:
    """(sets, functions): mean size on the calibration points and in truth, at the threshold of rank K.

    Scores are uniform, and v, an input's own number, too. A hard size is 1 where v <= tau, a smooth one is v tau.
    """
    tau = rng.beta(N + 1 - K, K, (sets, FUNCTIONS))
    rounded = GRID[np.searchsorted(GRID, tau)] if on_grid else tau
    if hard:
        return rng.binomial(N, rounded) / N, tau
    return rng.random((sets, FUNCTIONS, N), dtype=np.float32).mean(axis=-1, dtype=np.float64) * rounded, tau / 2


def posterior(*, runs: int, seed: int, bound: EfficiencyBound, hard: bool, gamma: float) -> Tally:
    """In how many calibration sets some posterior of the adversary's family has a true size above its bound.

    The adversary tilts the prior towards score functions whose size is most understated, at thirteen slopes from not at
    all to nearly a point mass.
    """
    rng, broken = np.random.default_rng(seed), 0
    for sets in batches(runs, _BATCH):
        empirical, truth = empirical_and_true(hard, rng, sets, on_grid=bound == "grid_kl")
        gap = truth - empirical
        failed = np.zeros(sets, dtype=bool)
        for slope in _SLOPES:
            q = _tilted(gap, slope)
            kl = (q * np.log(np.maximum(q * FUNCTIONS, 1e-300))).sum(axis=-1)
            promised = efficiency_bound(
                np.clip((q * empirical).sum(axis=-1), 0, 1),
                N,
                gamma,
                np.maximum(kl, 0),
                bound,
                grid_size=GRID.size,
                score_bound=1.0,
                lipschitz=None if hard else 1.0,
            )
            failed |= (q * truth).sum(axis=-1) > np.asarray(promised) + 1e-12
        broken += int(failed.sum())
    return Tally(SAID, gamma, broken, runs)


def draws(*, runs: int, seed: int, bound: EfficiencyBound, draws: int, gamma: float) -> Tally:
    """Q tilts towards understated sizes; every draw's own log-ratio pays for it."""
    rng, broken = np.random.default_rng(seed), 0
    for sets in batches(runs, _BATCH):
        empirical, truth = empirical_and_true(True, rng, sets, on_grid=bound == "grid_kl")
        q = _tilted(truth - empirical, 20.0)
        uniform = rng.random((sets, draws, 1))
        chosen = np.minimum((uniform > np.cumsum(q, axis=-1)[:, None, :]).sum(axis=-1), FUNCTIONS - 1)  # (sets, draws)
        rows = np.arange(sets)[:, None]
        log_ratio = np.log(q[rows, chosen] * FUNCTIONS)
        promised = per_draw_efficiency_bound(
            empirical[rows, chosen], N, gamma, log_ratio, draws, bound, grid_size=GRID.size
        )
        broken += int((truth[rows, chosen] > np.asarray(promised) + 1e-12).any(axis=-1).sum())
    return Tally(SAID, gamma, broken, runs)


def crowd(*, runs: int, seed: int, bound: EfficiencyBound, gamma: float, kl: float | None = None) -> Tally:
    """Few points and 4096 score functions, the adversary putting all mass on the most understated one.

    Sizes are hard, with thresholds around the median, where they vary most: here a bound cannot afford to forget its
    price for the choice of Q, which is ``kl`` (by default what it must be).
    """
    rng, broken = np.random.default_rng(seed), 0
    for sets in batches(runs, 200):
        tau = rng.beta(FEW // 2 + 1, FEW // 2, size=(sets, CROWD))
        rounded = COARSE[np.searchsorted(COARSE, tau)] if bound == "grid_kl" else tau
        empirical = rng.binomial(FEW, rounded) / FEW
        worst = np.argmax(tau - empirical, axis=-1)
        rows = np.arange(sets)
        price = float(np.log(CROWD)) if kl is None else kl
        promised = efficiency_bound(empirical[rows, worst], FEW, gamma, price, bound, grid_size=COARSE.size)
        broken += int((tau[rows, worst] > np.asarray(promised) + 1e-12).sum())
    return Tally(SAID, gamma, broken, runs, promised=kl is None)


def _tilted(gap: Array, slope: float) -> Array:
    weights = np.exp(slope * (gap - gap.max(axis=-1, keepdims=True)))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


_ADVERSARIES: dict[str, Callable[..., Tally]] = {"posterior": posterior, "draws": draws, "crowd": crowd}


def simulate(*, runs: int, seed: int, adversary: str, **settings: object) -> list[Tally]:
    return [_ADVERSARIES[adversary](runs=runs, seed=seed, **settings)]


FAMILY = Family(
    "size_bounds",
    "sizes",
    "The mean size, cut at a cap, against an adversary",
    f"64 score functions, {N} points; the adversary knows the true sizes and tilts the posterior towards functions "
    f"whose size is understated. The crowd has {CROWD} functions on {FEW} points. The bounds hold for every threshold "
    "and so use up little of gamma for any one.",
    simulate,
    [
        Case(f"{name}, {bound}", {"bound": bound, "gamma": gamma, **settings}, runs, quick_runs=200)
        for name, settings, bounds, runs in (
            ("any posterior, hard sizes", {"adversary": "posterior", "hard": True}, ("monotone", "grid_kl"), 10_000),
            ("any posterior, smooth sizes", {"adversary": "posterior", "hard": False}, ("theorem2",), 10_000),
            ("every one of four draws", {"adversary": "draws", "draws": 4}, ("monotone", "grid_kl"), 20_000),
            ("a crowd", {"adversary": "crowd"}, ("monotone", "grid_kl"), 2000),
        )
        for bound in bounds
        for gamma in (0.05, 0.2)
    ],
)
