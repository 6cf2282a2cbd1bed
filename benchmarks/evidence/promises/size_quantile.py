"""The certified quantile of the size, from a law whose true share is known."""

import numpy as np
from scipy.stats import lognorm

from benchmarks.evidence.promises.family import Case, Family, Tally
from benchmarks.evidence.promises.score_world import batches
from certiset.core.bounds import size_quantile_rank

N, RANK, SHARE = 300, 21, 0.1
"""points, rank of the threshold, and the share of sets that may be larger"""
GRID = np.geomspace(0.5, 2.0, 8)


def simulate(*, runs: int, seed: int, gamma: float, grid: bool) -> list[Tally]:
    """How often more than the promised share of sets is larger than the certified size.

    The size of a set at threshold t is t times a log-normal width of the input. Either scores are uniform and the
    threshold, of rank 21 from above, is rounded up on a grid, or it was fixed beforehand.
    """
    rng, broken = np.random.default_rng(seed), 0
    k = int(size_quantile_rank(N, SHARE, gamma, grid_size=len(GRID) if grid else 1))
    assert k >= 1
    for sets in batches(runs, 1000):
        tau = rng.beta(N + 1 - RANK, RANK, sets) if grid else np.ones(sets)
        rounded = GRID[np.searchsorted(GRID, tau)] if grid else tau
        widths = np.exp(rng.standard_normal((sets, N), dtype=np.float32)).astype(np.float64)
        certified = rounded * np.partition(widths, N - k, axis=1)[:, N - k]
        broken += int(np.count_nonzero(lognorm.sf(certified / tau, s=1.0) > SHARE))
    return [Tally(f"at most {SHARE:.0%} of the sets are larger", gamma, broken, runs)]


FAMILY = Family(
    "size_quantile",
    "sizes",
    "A quantile of the size, without a cap",
    f"Log-normal widths, {N} points: at most {SHARE:.0%} of future sets are larger than the certified size. A "
    "threshold that was fixed beforehand uses up its gamma; one from the same rows pays for its grid.",
    simulate,
    [
        Case(
            "threshold from the same rows, rounded up on a grid of 8" if grid else "threshold fixed beforehand",
            {"gamma": gamma, "grid": grid},
            runs=20_000,
            quick_runs=1000,
        )
        for grid in (False, True)
        for gamma in (0.05, 0.2)
    ],
)
