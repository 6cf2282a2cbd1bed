"""A world in which every promise can be checked exactly: a finite prior of independent score functions.

The prior is uniform over 64 score functions whose scores are independent of each other, so that 64 independent chances
to be lucky are on offer, and an adversary may see the true miscoverage of each before it chooses the posterior.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

FUNCTIONS = 64
Array = NDArray[np.float64]


@dataclass(frozen=True)
class World:
    """``ties`` = 0: scores uniform on [0, 1]; otherwise on that many equally likely values."""

    ties: int = 0

    def scores(self, rng: np.random.Generator, sets: int, n: int) -> Array:
        """Sorted calibration scores, (sets, functions, n)."""
        draws = rng.random((sets, FUNCTIONS, n), dtype=np.float64)
        if self.ties:
            draws = np.floor(draws * self.ties)
        draws.sort(axis=-1)
        return draws

    def miscoverage(self, thresholds: Array) -> Array:
        """P(score > threshold), exactly."""
        return (self.ties - 1 - thresholds) / self.ties if self.ties else 1 - thresholds


def batches(total: int, size: int) -> Iterator[int]:
    for start in range(0, total, size):
        yield min(size, total - start)


def worst_mean(values: Array, nats: float) -> Array:
    """The largest mean of ``values`` (..., functions) over all Q with KL(Q‖uniform) <= nats.

    The maximiser is exponentially tilted; its temperature is found by bisection. With more nats than log 64, Q may be a
    point mass.
    """
    best = values.max(axis=-1)
    if nats >= np.log(FUNCTIONS):
        return best
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
    return best + tilted


def within_margin(failures: int, trials: int, level: float) -> bool:
    """Whether so many failures can be explained by a failure probability of ``level``, at 99.9 %."""
    return failures <= int(binom.ppf(0.999, trials, level))
