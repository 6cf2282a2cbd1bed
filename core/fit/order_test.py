"""Are rows that come later like those before? A rank test of the scores as given, in the order of the rows.

If rows are independent draws from one law then the ranks of their scores, ties broken at random, are a random
permutation: its law depends on nothing else. Statistics of it are compared with that law, and the smallest of their
p-values is taken, times their number (Bonferroni), so that the whole is conservative.

- The largest deviation of the cumulative sum of ranks from a straight line: for drifts, shifts of level and noise that
  grows. Divided by its scale it is, in the limit, the maximum of a Brownian bridge, with Kolmogorov's law; between the
  rows the bridge could only be higher.
- The mean square of differences between neighbours' ranks (von Neumann's ratio, of ranks: Bartels 1982), of scores and
  of truths: for rows that depend on those beside them, and for rows that are sorted.
"""

import math

import numpy as np
from numpy.typing import NDArray
from scipy import special


def order_p_value(scores: NDArray[np.float64], truths: NDArray[np.float64], seed: int = 0) -> float:
    """Of (rows,) scores and truths in their order."""
    rng = np.random.default_rng(seed)
    ranks = _ranks(scores, rng)
    found = [_cumulative(ranks), _neighbours(ranks), _neighbours(_ranks(truths, rng))]
    return min(1.0, len(found) * min(found))


def _ranks(values: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """1 to n; among equal values in random order."""
    ranks = np.empty(len(values))
    ranks[np.lexsort((rng.random(len(values)), values))] = np.arange(1, len(values) + 1)
    return ranks


def _cumulative(ranks: NDArray[np.float64]) -> float:
    n = len(ranks)
    centred = (ranks - (n + 1) / 2) / math.sqrt(n * (n + 1) / 12)
    return float(special.kolmogorov(np.abs(np.cumsum(centred)).max() / math.sqrt(n)))


def _neighbours(ranks: NDArray[np.float64]) -> float:
    n = len(ranks)
    ratio = float(np.sum(np.diff(ranks) ** 2)) / (n * (n * n - 1) / 12)
    variance = 4 * (n - 2) * (5 * n * n - 2 * n - 9) / (5 * n * (n + 1) * (n - 1) ** 2)
    return math.erfc(abs(ratio - 2) / math.sqrt(2 * variance))
