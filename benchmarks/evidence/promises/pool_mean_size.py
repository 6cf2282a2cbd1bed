"""What is said about the size of a pool's sets on its last block, from laws whose true mean and shares are known."""

import numpy as np

from benchmarks.evidence.promises.family import Case, Family, Tally
from certiset.core.certificate.pool_sizes import pool_sizes
from certiset.core.certificate.sizes import QUANTILE_SHARE

POWERS = np.array([0.5, 1.0, 3.0])
"""a: the size at threshold t is t x^a, for an input x that is uniform"""
WEIGHTS = [0.2, 0.3, 0.5]
ROWS, RANK = 200, 20
"""of the last block; the other members' thresholds come from blocks like it"""
GRID = np.linspace(0.82, 0.99, 8)


def simulate(*, runs: int, seed: int, gamma: float, grid: bool) -> list[Tally]:
    """How often the mean size, or the share of larger sets, is more than was certified.

    With a grid the last member's threshold is an order statistic of the very inputs that sizes are measured on;
    without, it comes from elsewhere, like the others.
    """
    rng, mean_broken, quantile_broken, bounds = np.random.default_rng(seed), 0, 0, 0.0
    weights = np.asarray(WEIGHTS)
    for run in range(runs):
        x = rng.random(ROWS)
        tau = rng.beta(ROWS + 1 - RANK, RANK, 3)
        if grid:
            tau[-1] = np.partition(x, ROWS - RANK)[ROWS - RANK]
        point = GRID[tau[-1] <= GRID].min(initial=np.inf) if grid else tau[-1]
        at_grid = np.array([*tau[:-1], point]) * x[:, None] ** POWERS  # (rows, members)
        points = len(GRID) if grid else 1
        found = pool_sizes(at_grid, WEIGHTS, cap=1.0, labels=False, gamma=gamma, grid_size=points, seed=run + seed)
        assert found.upper_bound is not None
        bounds += found.upper_bound
        mean_broken += bool(weights @ (tau / (POWERS + 1)) > found.upper_bound)
        if found.quantile is not None:
            larger = 1 - np.minimum(found.quantile / tau, 1.0) ** (1 / POWERS)
            quantile_broken += bool(weights @ larger > QUANTILE_SHARE)
    usual = (ROWS + 1 - RANK) / (ROWS + 1)
    facts = {"certified": bounds / runs, "mean": float(weights @ (usual / (POWERS + 1)))}
    return [
        Tally("the mean size of what is served", gamma, mean_broken, runs, facts=facts),
        Tally(f"at most {QUANTILE_SHARE:.0%} of the sets are larger", gamma, quantile_broken, runs),
    ]


FAMILY = Family(
    "pool_mean_size",
    "sizes",
    "A pool, on its last block",
    f"Three members with weights {WEIGHTS}, {ROWS} rows: the mean size of what is served, and a size that few sets "
    "exceed. Only the last member's threshold may come from these rows, and pays for a grid.",
    simulate,
    [
        Case(
            f"last threshold from the same rows, on a grid of {len(GRID)}" if grid else "last threshold from elsewhere",
            {"gamma": gamma, "grid": grid},
            runs=20_000,
            quick_runs=500,
            parts=4,
        )
        for grid in (False, True)
        for gamma in (0.05, 0.2)
    ],
)
