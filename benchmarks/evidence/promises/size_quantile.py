"""The certified quantile of the size, from laws whose true shares are known."""

from functools import cache

import numpy as np
from scipy.special import gammainc
from scipy.stats import lognorm

from benchmarks.evidence.promises.family import Case, Family, Tally
from benchmarks.evidence.promises.score_world import FUNCTIONS, World, batches
from certiset.core.bounds import beta_tail, size_quantile_rank

N, RANK, SHARE = 300, 21, 0.1
"""points, rank of the threshold, and the share of sets that may be larger"""
GRID = np.geomspace(0.5, 2.0, 8)
LABELS = 10
DRAWN_N = 100
_STATEMENT = f"at most {SHARE:.0%} of the sets are larger"


def simulate(*, runs: int, seed: int, gamma: float, threshold: str) -> list[Tally]:
    """How often more than the promised share of sets is larger than the certified size."""
    rng, world = np.random.default_rng(seed), _WORLDS[threshold]
    broken = sum(world(rng, sets, gamma) for sets in batches(runs, 1000))
    return [Tally(_STATEMENT, gamma, broken, runs, promised=not threshold.startswith("unpaid"))]


def _fixed(rng: np.random.Generator, sets: int, gamma: float) -> int:
    return _widths(rng, sets, gamma, np.ones(sets), 1, np.ones(sets))


def _grid(rng: np.random.Generator, sets: int, gamma: float) -> int:
    """Scores are uniform, and the threshold, of rank 21 from above, is rounded up."""
    tau = rng.beta(N + 1 - RANK, RANK, sets)
    return _widths(rng, sets, gamma, tau, len(GRID), GRID[np.searchsorted(GRID, tau)])


def _widths(
    rng: np.random.Generator, sets: int, gamma: float, tau: np.ndarray, points: int, rounded: np.ndarray
) -> int:
    """The size of a set at threshold t is t times a log-normal width of the input."""
    k = int(size_quantile_rank(N, SHARE, gamma, grid_size=points))
    widths = np.exp(rng.standard_normal((sets, N), dtype=np.float32)).astype(np.float64)
    certified = rounded * np.partition(widths, N - k, axis=1)[:, N - k]
    return int(np.count_nonzero(lognorm.sf(certified / tau, s=1.0) > SHARE))


def _labels(rng: np.random.Generator, sets: int, gamma: float) -> int:
    """The s-th label enters the set at a threshold of its own, the sum of s exponential variables.

    The adversary knows the law and takes, of the thresholds at which s is certified for some s, the one at which more
    sets are larger than at any other: just below that at which the k-th row gets its next label.
    """
    k = int(size_quantile_rank(N, SHARE, gamma, grid_size=LABELS - 1))
    enters = np.cumsum(rng.standard_exponential((sets, N, LABELS)), axis=2)
    reached = np.partition(enters, k - 1, axis=1)[:, k - 1, 1:]  # (sets, labels - 1)
    larger = gammainc(np.arange(2, LABELS + 1), reached)
    return int(np.count_nonzero(larger.max(axis=1) > SHARE))


def _drawn(rng: np.random.Generator, sets: int, gamma: float) -> int:
    """One draw from a posterior over 64 parameters, whose sizes are uniform and fixed by the draw alone.

    The adversary sees the truth, and gives each parameter the largest density at which its rank is one that fails.
    """
    return _against(rng, sets, _paid(gamma))


@cache
def _paid(gamma: float) -> dict[int, float]:
    """The largest log-ratio at which a draw gets each rank that is open, found by asking."""
    ratios = np.linspace(-2.0, 12.0, 1400).tolist()
    by_rank = {int(size_quantile_rank(DRAWN_N, SHARE, gamma, ratio)): ratio for ratio in ratios}
    return {k: ratio for k, ratio in by_rank.items() if k}


def _unpaid(rng: np.random.Generator, sets: int, gamma: float) -> int:
    """The same with all ranks open and none of them paid for."""
    most = int(size_quantile_rank(DRAWN_N, SHARE, min(0.5, 50 * gamma)))
    tails = {k: float(np.log(gamma) - beta_tail(DRAWN_N, k, SHARE, log=True)) for k in range(1, most + 1)}
    return _against(rng, sets, tails)


def _against(rng: np.random.Generator, sets: int, largest: dict[int, float]) -> int:
    """``largest`` log-ratio at which a draw gets each rank."""
    world, ranks = World(), list(largest)
    larger = world.miscoverage(world.thresholds(rng, sets, DRAWN_N, ranks, FUNCTIONS))
    allowed = np.minimum(np.exp(np.array(list(largest.values()))), FUNCTIONS)
    mass = np.where(larger > SHARE, allowed, 0.0).max(axis=2).sum(axis=1) / FUNCTIONS
    return int(np.count_nonzero(rng.random(sets) < mass))


_WORLDS = {"fixed": _fixed, "grid": _grid, "labels": _labels, "drawn": _drawn, "unpaid": _unpaid}
_NAMES = {
    "fixed": "threshold fixed beforehand",
    "grid": "threshold from the same rows, rounded up on a grid of 8",
    "labels": "threshold chosen by an adversary, any number of 10 labels",
    "drawn": "posterior chosen by an adversary",
    "unpaid": "posterior chosen by an adversary, ranks **not** paid for",
}
FAMILY = Family(
    "size_quantile",
    "sizes",
    "A quantile of the size, without a cap",
    f"At most {SHARE:.0%} of future sets are larger than the certified size. {N} points, log-normal widths: a "
    "threshold that was fixed beforehand uses up its gamma; one from the same rows pays for its grid. Labels need no "
    "grid of thresholds, whoever chooses the threshold: they pay for the sizes. Draws from a posterior pay for their "
    "ranks.",
    simulate,
    [
        Case(name, {"gamma": gamma, "threshold": threshold}, runs=20_000, quick_runs=1000)
        for threshold, name in _NAMES.items()
        for gamma in (0.05, 0.2)
    ],
)
