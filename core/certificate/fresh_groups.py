"""The mean size of every group's sets on fresh inputs, all at once: part of a statement about sizes.

Thresholds were fixed before the inputs were seen, and given the groups of the inputs those of one group are independent
draws from its law. So gamma is shared in equal parts: one for each group and one for all of them together.
"""

from dataclasses import dataclass

from certiset.core.bounds import SizeCounts


@dataclass(frozen=True)
class FreshGroup:
    name: list[str]
    rows: int
    """inputs of the group"""
    empirical: float
    """mean of their sizes as they are counted"""
    upper_bound: float
    counts: list[list[int]]
    """[level, rows], in the steps of the statement"""

    def size_counts(self, steps: int) -> SizeCounts:
        return SizeCounts.from_json(steps, self.counts)


def shared_gamma(gamma: float, groups: int) -> float:
    """Of each group, and of all together."""
    return gamma / (groups + 1)
