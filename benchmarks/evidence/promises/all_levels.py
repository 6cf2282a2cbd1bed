"""All alpha at once: an adversary looks at what every rank misses, and then chooses the level that is broken."""

import numpy as np
from numpy.typing import NDArray

from benchmarks.evidence.promises.family import Case, Family, Tally
from benchmarks.evidence.promises.score_world import Array, World, batches
from certiset.core.bounds import simultaneous_levels, simultaneous_rank, smallest_n_2b, vovk_2b

ALPHAS = np.linspace(0.0015, 0.3, 200)
_NUMBERS = 2_000_000
"""in memory at once"""


def simulate(*, runs: int, seed: int, n: int, delta: float, ties: int = 0, each_alone: bool = False) -> list[Tally]:
    """In how many calibrations some alpha of the grid is exceeded, and in how many any alpha that there is."""
    if each_alone:
        alone = np.array([int(vovk_2b(n, a, delta)) if n >= smallest_n_2b(a, delta) else 0 for a in ALPHAS])
        (broken,) = _broken(runs, seed, n, ties, [(alone, ALPHAS)])
        return [Tally(f"none of {ALPHAS.size} alphas is exceeded", delta, broken, runs, promised=False)]
    levels = simultaneous_levels(n, delta)
    # Ranks with a level of their own imply those between.
    own = np.append(np.flatnonzero(np.diff(levels) > 0), levels.size - 1) + 1
    together = np.asarray(simultaneous_rank(n, ALPHAS, delta))
    grid, anywhere = _broken(runs, seed, n, ties, [(together, ALPHAS), (own, levels[own - 1])])
    return [
        Tally(f"none of {ALPHAS.size} alphas is exceeded", delta, grid, runs),
        Tally("no alpha is exceeded", delta, anywhere, runs),
    ]


def _broken(runs: int, seed: int, n: int, ties: int, promises: list[tuple[NDArray[np.int64], Array]]) -> list[int]:
    """For each list of ranks and alphas: in how many calibrations a rank misses more than its alpha; rank 0 never."""
    kept = [(ranks[ranks > 0], alphas[ranks > 0]) for ranks, alphas in promises]
    every = np.unique(np.concatenate([ranks for ranks, _ in kept]))
    world, rng, broken = World(ties), np.random.default_rng(seed), [0] * len(kept)
    for calibrations in batches(runs, max(1, _NUMBERS // every.size)):
        missed = world.miscoverage(world.thresholds(rng, calibrations, n, every.tolist(), 1))[:, 0]
        for place, (ranks, alphas) in enumerate(kept):
            exceeded = missed[:, np.searchsorted(every, ranks)] > alphas + 1e-12
            broken[place] += int(np.count_nonzero(np.any(exceeded, axis=1)))
    return broken


FAMILY = Family(
    "all_levels",
    "coverage",
    "All alpha at once",
    f"One score function, uniform scores or tied on 50 values; the largest rank is taken at each of {ALPHAS.size} "
    f"alphas from {ALPHAS[0]:g} to {ALPHAS[-1]:g}, and one that is exceeded is enough. The worst of all alphas that "
    "there are uses up delta. Ranks by Vovk 2b hold for one alpha that was fixed before, not for one that is chosen "
    "last.",
    simulate,
    [
        Case(
            f"n = {n:,}{', ties' if ties else ''}{', **each alpha alone**, by Vovk 2b' if each_alone else ''}",
            {"n": n, "delta": delta, "ties": ties, "each_alone": each_alone},
            runs=20_000,
            quick_runs=1000 if n < 1000 else 100,
            parts=1 if n < 1000 or each_alone else 4,
        )
        for n, ties, each_alone in (
            (200, 0, False),
            (500, 0, False),
            (500, 50, False),
            (20_000, 0, False),
            (200, 0, True),
            (500, 0, True),
            (20_000, 0, True),
        )
        for delta in (0.05, 0.2)
    ],
)
