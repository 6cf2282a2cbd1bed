"""The mean over a posterior, by the paper's bound and by ours, against an adversary who sees the true miscoverage."""

import numpy as np

from benchmarks.evidence.promises.family import Case, Family, Tally
from benchmarks.evidence.promises.score_world import FUNCTIONS, Array, World, batches
from certiset.core.bounds import PosteriorBound, kl_budget

N, ALPHA = 60, 0.3
_BATCH = 4000
_SLOPES = np.geomspace(2, 400, 12)


def simulate(
    *, runs: int, seed: int, k: int, delta: float, bound: PosteriorBound, ties: int = 0, extra: float = 0.0
) -> list[Tally]:
    """In how many calibration sets some posterior within the budget, and ``extra`` nats, misses more than alpha."""
    nats = float(kl_budget(N, k, ALPHA, delta, bound)) + extra
    assert nats > 0, "the setting must leave the adversary something to spend"
    rng, world, broken = np.random.default_rng(seed), World(ties), 0
    for size in batches(runs, _BATCH):
        missed = world.miscoverage(world.thresholds(rng, size, N, [k], FUNCTIONS))[..., 0]  # (sets, functions)
        broken += int(np.count_nonzero(exceeds(missed, nats)))
    said = "no posterior misses more than alpha"
    return [Tally(said, delta, broken, runs, promised=not extra, facts={"budget": nats})]


def exceeds(missed: Array, nats: float) -> Array:
    """(sets,): whether some Q with KL(Q‖uniform) <= nats has a mean above alpha.

    By Donsker and Varadhan no such mean is above (nats + log mean exp(slope * missed)) / slope, whatever the slope; the
    worst is sought only where no slope of a few excludes it.
    """
    tilted = np.exp(_SLOPES[:, None, None] * (missed - ALPHA)).mean(axis=-1)  # (slopes, sets)
    open_ = np.flatnonzero(np.all(nats + np.log(tilted) > 0, axis=0))
    answer = np.zeros(len(missed), dtype=bool)
    answer[open_] = worst_mean(missed[open_], nats) > ALPHA + 1e-12
    return answer


def worst_mean(values: Array, nats: float) -> Array:
    """The largest mean of ``values`` (..., functions) over all Q with KL(Q‖uniform) <= nats.

    The maximiser is exponentially tilted; its temperature is found by bisection. With more nats than log 64, Q may be a
    point mass.
    """
    best = values.max(axis=-1)
    if nats >= np.log(FUNCTIONS):
        return np.asarray(best)
    if nats < 0:
        return np.full(best.shape, -np.inf)
    centred = values - best[..., None]
    low, high = np.full(best.shape, -10.0), np.full(best.shape, 25.0)  # log of the inverse temperature
    tilted = centred.mean(axis=-1)
    for _ in range(45):
        middle = 0.5 * (low + high)
        weights = np.exp(np.exp(middle)[..., None] * centred)
        mass = weights.sum(axis=-1)
        mean = (weights * centred).sum(axis=-1) / mass
        divergence = np.exp(middle) * mean - np.log(mass / FUNCTIONS)
        inside = divergence <= nats
        tilted = np.where(inside, mean, tilted)
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return np.asarray(best + tilted)


FAMILY = Family(
    "posterior_mean",
    "coverage",
    "The mean over a posterior, against an adversary",
    f"64 score functions with independent scores, n = {N}, alpha = {ALPHA:g}, a uniform prior. The adversary sees what "
    "each of them misses, and takes the worst posterior within the KL budget.",
    simulate,
    [
        Case(
            f"{bound}, k = {k}{', ties' if ties else ''}",
            {"bound": bound, "k": k, "delta": delta, "ties": ties},
            runs=20_000,
            quick_runs=2000,
        )
        for bound, ranks in (("seeger", {0.05: 6, 0.2: 8}), ("chernoff", {0.05: 9, 0.2: 11}))
        for delta, k in ranks.items()
        for ties in (0, 7)
    ],
)
