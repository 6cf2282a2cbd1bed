"""A world in which every promise can be checked exactly: scores whose law is known, and a prior of many functions.

The prior is uniform over 64 score functions whose scores are independent of each other, so that 64 independent chances
to be lucky are on offer, and an adversary may see the true miscoverage of each before it chooses the posterior.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FUNCTIONS = 64
Array = NDArray[np.float64]


@dataclass(frozen=True)
class World:
    """``ties`` = 0: scores uniform on [0, 1]; otherwise on that many equally likely values."""

    ties: int = 0

    def thresholds(self, rng: np.random.Generator, sets: int, n: int, ranks: list[int], functions: int) -> Array:
        """(sets, functions, ranks): the calibration scores of those ranks from above.

        Order statistics of uniform scores by their own law (Rényi): sums of independent exponential variables, one for
        each gap, so that the scores between them need not be drawn and sorted.
        """
        order = np.argsort(ranks)
        gaps = np.diff(np.asarray(ranks)[order], prepend=0)
        tops = np.cumsum(rng.standard_gamma(gaps, (sets, functions, len(ranks))), axis=-1)
        below = rng.standard_gamma(n + 1 - max(ranks), (sets, functions, 1))
        values = np.empty(tops.shape)
        values[..., order] = 1 - tops / (tops[..., -1:] + below)
        return np.floor(values * self.ties) if self.ties else values

    def miscoverage(self, thresholds: Array) -> Array:
        """P(score > threshold), exactly."""
        return (self.ties - 1 - thresholds) / self.ties if self.ties else 1 - thresholds


def batches(total: int, size: int) -> Iterator[int]:
    for start in range(0, total, size):
        yield min(size, total - start)
