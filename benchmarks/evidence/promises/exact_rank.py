"""One fixed score function: its threshold by Vovk 2b, whose law is exact, and by 2a, which is conservative."""

from typing import Literal

import numpy as np

from benchmarks.evidence.promises.family import Case, Family, Tally
from benchmarks.evidence.promises.score_world import World
from certiset.core.bounds import calibration_rank, vovk_2a, vovk_2b


def simulate(
    *,
    runs: int,
    seed: int,
    n: int,
    alpha: float,
    delta: float,
    ties: int = 0,
    bound: Literal["vovk_2a", "vovk_2b"] = "vovk_2b",
) -> list[Tally]:
    k = int(vovk_2b(n, alpha, delta)) if bound == "vovk_2b" else int(calibration_rank(n, vovk_2a(n, alpha, delta)))
    world = World(ties)
    missed = world.miscoverage(world.thresholds(np.random.default_rng(seed), runs, n, [k], 1))[:, 0, 0]
    broken = int(np.count_nonzero(missed > alpha + 1e-12))
    return [Tally("at most alpha is missed", delta, broken, runs, facts={"missed": float(missed.mean())})]


FAMILY = Family(
    "exact_rank",
    "coverage",
    "One fixed score function",
    "The threshold is the score of rank k among n calibration scores, which are uniform, or tied on seven values; what "
    "it misses is known exactly. Vovk 2b uses up as much of delta as whole ranks allow.",
    simulate,
    [
        Case(
            f"{bound.replace('_', ' ').capitalize()}, n = {n}, alpha = {alpha:g}{', ties' if ties else ''}",
            {"n": n, "alpha": alpha, "delta": delta, "ties": ties, "bound": bound},
            runs=200_000,
            quick_runs=20_000,
        )
        for bound, n, alpha, ties in (
            ("vovk_2b", 60, 0.1, 0),
            ("vovk_2b", 500, 0.1, 0),
            ("vovk_2b", 500, 0.28, 7),
            ("vovk_2a", 500, 0.1, 0),
        )
        for delta in (0.05, 0.2)
    ],
)
