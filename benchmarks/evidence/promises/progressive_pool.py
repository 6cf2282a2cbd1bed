"""A pool that is tuned block by block and served by its weights, where its true miscoverage is known."""

import numpy as np
from numpy.typing import NDArray

from benchmarks.evidence.promises.family import Case, Family, Tally
from benchmarks.evidence.promises.score_world import Array, batches
from certiset.core.certificate.pool_parts import PoolPlan

ALPHA = 0.1
_BATCH = 2000


def simulate(
    *,
    runs: int,
    seed: int,
    sizes: list[int],
    delta: float,
    weights: list[float] | None = None,
    ties: int = 0,
    dropped: str = "none",
) -> list[Tally]:
    """In how many runs the pool's mean miscoverage, by its weights, is above alpha.

    Inputs are uniform, and so is the score of every member: the input turned round by an angle that the member learns
    from all blocks before its own. With ``dropped`` there is one member more, and the oldest or the best one goes.
    """
    rng, broken = np.random.default_rng(seed), 0
    plan = PoolPlan.of(sizes, ALPHA, delta, weights)
    rows, ranks = list(plan.sizes), list(plan.ranks)
    if dropped != "none":
        rows, ranks = [*rows, rows[-1]], [*ranks, ranks[-1]]
    for count in batches(runs, _BATCH):
        missed = _missed(rng, count, rows, ranks, ties)
        if dropped == "oldest":
            missed = missed[:, 1:]
        elif dropped == "best":
            best = np.argmin(missed, axis=1)
            missed = missed[np.arange(missed.shape[1]) != best[:, None]].reshape(count, -1)
        broken += int(np.count_nonzero(missed @ np.asarray(plan.weights) > ALPHA + 1e-12))
    # Who drops a member by what its block holds is promised nothing.
    return [Tally("the pool misses at most alpha", delta, broken, runs, promised=dropped != "best")]


def _missed(rng: np.random.Generator, sets: int, rows: list[int], ranks: list[int], ties: int) -> Array:
    """(sets, members)."""
    angle, found = np.zeros((sets, 1)), []
    for size, rank in zip(rows, ranks, strict=True):
        inputs = rng.random((sets, size))
        scores = (inputs + angle) % 1.0
        if ties:
            scores = np.floor(scores * ties)
        tau = np.partition(scores, size - rank, axis=1)[:, size - rank]
        found.append((ties - 1 - tau) / ties if ties else 1 - tau)
        # The largest gap between inputs seen so far looks like the place of the fewest.
        angle = _largest_gap(inputs)
    return np.stack(found, axis=1)


def _largest_gap(inputs: Array) -> NDArray[np.float64]:
    ordered = np.sort(inputs, axis=1)
    gaps = np.diff(ordered, axis=1)
    return 1.0 - np.take_along_axis(ordered, gaps.argmax(axis=1)[:, None], axis=1)


FAMILY = Family(
    "progressive_pool",
    "coverage",
    "A pool that learns as it goes",
    "Uniform scores, so that each member's miscoverage is known. Each member learns from all blocks before its own; "
    "the mean over the pool, by its weights, misses at most alpha. A pool may go on, its oldest member replaced by a "
    "new one; who drops the best one instead, by what its block holds, is promised nothing, and broken more often.",
    simulate,
    [
        *(
            Case(
                f"{name}{', ties' if ties else ''}",
                {"sizes": sizes, "weights": weights, "delta": delta, "ties": ties},
                runs=100_000,
                quick_runs=20_000,
            )
            for name, sizes, weights in (
                ("two blocks", [250, 250], None),
                ("three blocks that grow", [137, 205, 308], None),
                ("two blocks, other weights", [150, 250], [0.7, 0.3]),
            )
            for delta in (0.05, 0.2)
            for ties in (0, 40)
        ),
        *(
            Case(
                f"one member more, the {dropped} dropped",
                {"sizes": [250, 250], "delta": 0.05, "dropped": dropped},
                runs=100_000,
                quick_runs=20_000,
            )
            for dropped in ("oldest", "best")
        ),
    ],
)
