"""How often sets of each size occurred: all that a betting bound is computed from, short enough for a certificate.

Sizes are counted in whole steps, and what lies between two counts as the larger one: labels one by one, the mean
number of labels over a pool in 1024ths of a label, widths and volumes in 1024ths of the size above which they are cut.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from certiset.core.bounds.domain import LARGEST_COUNT, Floats, count, finite
from certiset.core.bounds.efficiency.betting import mean_upper_bound
from certiset.core.bounds.efficiency.grid_betting import grid_betting
from certiset.core.bounds.errors import DomainError

FINE_STEPS = 1024
_ROUNDING = 1e-9
"""of a step: a mean of whole numbers that is whole but for rounding stays where it is"""


@dataclass(frozen=True)
class SizeCounts:
    """``counts[j]`` sets had an efficiency of ``levels[j] / steps``, rounded up."""

    steps: int
    levels: tuple[int, ...]
    """ascending, from 0 to ``steps``"""
    counts: tuple[int, ...]

    def __post_init__(self) -> None:
        steps, levels, counts = self.steps, self.levels, self.counts
        if not _whole(steps, *levels, *counts) or steps < 1 or steps > LARGEST_COUNT:
            raise DomainError("size counts are whole numbers, and steps at least 1.", field="steps")
        if not levels or len(levels) != len(counts) or min(counts) < 1 or sum(counts) > LARGEST_COUNT:
            raise DomainError("every level of size counts has its count, of at least 1.", field="counts")
        if levels[0] < 0 or levels[-1] > steps or any(a >= b for a, b in pairwise(levels)):
            raise DomainError(f"levels of size counts ascend from 0 to {steps}.", field="levels")

    @classmethod
    def of_labels(cls, sizes: ArrayLike, classes: int) -> "SizeCounts":
        """Of sets of labels, by their sizes 0..classes."""
        return cls._of(count("sizes", sizes, at_least=0).astype(np.float64), int(count("classes", classes)))

    @classmethod
    def of_mean_labels(cls, sizes: ArrayLike, classes: int) -> "SizeCounts":
        """Of the mean number of labels over a pool, rounded up to 1024ths of a label."""
        steps = int(count("classes", classes)) * FINE_STEPS
        return cls._of(finite("sizes", sizes) * FINE_STEPS, steps, slack=_ROUNDING)

    @classmethod
    def of_capped(cls, sizes: ArrayLike, cap: float) -> "SizeCounts":
        """Of widths or volumes: sizes above ``cap`` count as ``cap``, others are rounded up to 1024ths of it."""
        limit = float(finite("cap", cap))
        if limit <= 0:
            raise DomainError("cap must be positive.", field="cap")
        # An infinite size is one above the cap.
        given = np.asarray(sizes, dtype=np.float64)
        return cls._of(finite("sizes", np.minimum(given, limit)) / limit * FINE_STEPS, FINE_STEPS)

    @classmethod
    def _of(cls, in_steps: Floats, steps: int, slack: float = 0.0) -> "SizeCounts":
        if in_steps.ndim != 1 or in_steps.size == 0 or np.any(in_steps < 0):
            raise DomainError("sizes must be a non-empty list of numbers that are not negative.", field="sizes")
        up = np.ceil(in_steps - slack).astype(np.int64)
        if np.any(up > steps):
            raise DomainError(f"a size lies beyond the largest, {steps} steps.", field="sizes")
        levels, counts = np.unique(up, return_counts=True)
        return cls(steps, tuple(levels.tolist()), tuple(counts.tolist()))

    def rounded_up(self, ladder: Sequence[int]) -> "SizeCounts":
        """With every efficiency rounded up to one of ``ladder``, which ascends to ``steps``, fixed beforehand.

        A bound on the larger mean is one on that of these sizes; it needs fewer numbers.
        """
        if not ladder or ladder[-1] != self.steps:
            raise DomainError(f"a ladder of sizes ends at {self.steps}.", field="ladder")
        found: dict[int, int] = {}
        for level, often in zip(self.levels, self.counts, strict=True):
            step = ladder[bisect_left(ladder, level)]
            found[step] = found.get(step, 0) + often
        return SizeCounts(self.steps, tuple(found), tuple(found.values()))

    @property
    def rows(self) -> int:
        return sum(self.counts)

    @property
    def values(self) -> Floats:
        """(levels,): the efficiencies."""
        return np.array(self.levels) / self.steps

    @property
    def mean(self) -> float:
        """Of the efficiencies."""
        return sum(a * b for a, b in zip(self.levels, self.counts, strict=True)) / (self.steps * self.rows)

    def upper_bound(self, gamma: float) -> float:
        """On the mean efficiency of sets whose thresholds do not depend on these rows."""
        return mean_upper_bound(self.values, gamma, counts=self.counts)

    def grid_upper_bound(self, gamma: float, grid_size: int, draws: int = 1, log_ratio: float = 0.0) -> float:
        """On the mean efficiency of one draw, where these are the counts at the grid point that was taken."""
        return grid_betting(self.values, gamma, grid_size, counts=self.counts, draws=draws, log_ratio=log_ratio)

    def to_json(self) -> list[list[int]]:
        """[level, count] for each level; ``steps`` is said elsewhere."""
        return [[level, often] for level, often in zip(self.levels, self.counts, strict=True)]

    @classmethod
    def from_json(cls, steps: int, pairs: Sequence[Sequence[int]]) -> "SizeCounts":
        if any(len(pair) != 2 for pair in pairs):
            raise DomainError("size counts are pairs of a level and a count.", field="counts")
        return cls(steps, tuple(pair[0] for pair in pairs), tuple(pair[1] for pair in pairs))


def _whole(*numbers: object) -> bool:
    return all(isinstance(number, int) and not isinstance(number, bool) for number in numbers)
