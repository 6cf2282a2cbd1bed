"""Every draw from a posterior, each at the rank that its log-ratio allows, against an adversary who sees the truth."""

import numpy as np
from numpy.typing import NDArray

from benchmarks.evidence.promises.family import Case, Family, Tally
from benchmarks.evidence.promises.score_world import FUNCTIONS, Array, World, batches
from certiset.core.bounds import beta_tail, per_draw_rank

N, ALPHA = 60, 0.3
_BATCH = 4000


def simulate(
    *, runs: int, seed: int, ranks: list[int], draws: int, delta: float, ties: int = 0, generosity: float = 1.0
) -> list[Tally]:
    """In how many calibration sets some served pair misses more than alpha, the adversary choosing Q.

    The worst Q gives each score function the largest probability with which it is still served at the smallest rank at
    which it misses too often, and spreads the rest so thinly that it does no harm to the adversary. ``generosity``
    multiplies the delta by which draws are served.
    """
    rng, world, spent = np.random.default_rng(seed), World(ties), generosity * delta
    tails = np.array([beta_tail(N, k, ALPHA) for k in ranks])
    allowed = np.minimum(spent / len(ranks) / draws / tails, FUNCTIONS)  # largest e^rho at each rank
    broken = 0
    for size in batches(runs, _BATCH):
        missed = world.miscoverage(world.thresholds(rng, size, N, ranks, FUNCTIONS))  # (sets, functions, ranks)
        caps = np.where(missed > ALPHA + 1e-12, allowed, 0.0).max(axis=-1) / FUNCTIONS  # (sets, functions)
        total = caps.sum(axis=-1, keepdims=True)
        q = caps / np.maximum(total, 1.0)
        places = (rng.random((size, draws, 1)) >= np.cumsum(q, axis=-1)[:, None, :]).sum(axis=-1)  # (sets, draws)
        # The rest of the mass went to score functions that keep the promise.
        for one in np.flatnonzero(np.any(places < FUNCTIONS, axis=1)):
            broken += _served_badly(q[one], missed[one], places[one][places[one] < FUNCTIONS], ranks, draws, spent)
    said = "no served member misses more than alpha"
    return [Tally(said, delta, broken, runs, promised=generosity == 1)]


def _served_badly(
    q: Array, missed: Array, chosen: NDArray[np.int64], ranks: list[int], draws: int, delta: float
) -> bool:
    """Serves the chosen functions of one set by the rule of `per_draw_rank`, and looks at the truth."""
    log_ratio = np.log(q[chosen] * FUNCTIONS) - 1e-12
    served = np.asarray(per_draw_rank(N, ALPHA, delta, log_ratio, ranks, None, draws))
    column = {k: place for place, k in enumerate(ranks)}
    return any(k > 0 and missed[m, column[k]] > ALPHA + 1e-12 for m, k in zip(chosen, served.tolist(), strict=True))


FAMILY = Family(
    "per_draw",
    "coverage",
    "Every draw from a posterior, against an adversary",
    f"The same 64 score functions, n = {N}, alpha = {ALPHA:g}. The adversary chooses the posterior that is served at "
    "its worst most often; every draw gets the largest rank that its log-ratio allows.",
    simulate,
    [
        Case(
            f"{name}{', ties' if ties else ''}",
            {"ranks": ranks, "draws": draws, "delta": delta, "ties": ties},
            runs=20_000,
            quick_runs=2000,
        )
        for name, draws, by_delta in (
            ("one rank", 1, {0.05: [12], 0.2: [14]}),
            ("three ranks, four draws", 4, {0.05: [8, 10, 11], 0.2: [9, 11, 13]}),
        )
        for delta, ranks in by_delta.items()
        for ties in (0, 7)
    ],
)
