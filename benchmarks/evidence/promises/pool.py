"""What the promise for a posterior says about the members that were drawn from it, where they differ most."""

import numpy as np

from benchmarks.evidence.promises.family import Case, Family, Tally
from certiset.core.bounds import pool_miscoverage_bound


def simulate(*, runs: int, seed: int, members: int, mean: float, delta: float) -> list[Tally]:
    """Members that miss everything or nothing: of all laws with that mean, the most spread one."""
    missed = np.random.default_rng(seed).binomial(members, mean, runs) / members
    bound = float(pool_miscoverage_bound(mean, members, delta))
    broken = int(np.count_nonzero(missed > bound + 1e-12))
    return [Tally("the realised pool", delta, broken, runs, facts={"bound": bound})]


FAMILY = Family(
    "pool",
    "coverage",
    "The realised pool, where members differ most",
    "A posterior whose draws miss everything or nothing, and as much as is promised on average: the mean over the "
    "stored members stays within the bound of the realised pool.",
    simulate,
    [
        Case(
            f"{members} members, alpha = {mean:g}",
            {"members": members, "mean": mean, "delta": delta},
            runs=200_000,
            quick_runs=20_000,
        )
        for members in (8, 32, 1000)
        for mean in (0.1,)
        for delta in (0.05, 0.2)
    ],
)
