"""What a certificate says of one group: its rows, its share of delta, its thresholds and the size of its sets."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class GroupBlock:
    """The rows of a group in the block of one member of a pool."""

    n: int
    k: int
    """the rank among them; 0: the group has too few rows, here or in another block"""
    tau: float | None
    tie: float | None = None


@dataclass(frozen=True)
class Group:
    name: list[str]
    """the value of each column that names it; of a class its number"""
    n: int
    """points of D_N in the group"""
    delta: float
    """its share of delta, by the numbers of points alone; 0 without a finite threshold"""
    k: int
    """the rank among its own points; 0: too few, and everything is in its sets"""
    tau: float | None
    """of a pool, the largest of its thresholds, as k is the sum of its ranks"""
    size: float | None
    """mean size of its sets on D_N, of a pool on the last block; null where they are unbounded, or without points"""
    tie: float | None = None
    """as for a member"""
    lacking: int | None = None
    """points that are missing for a finite threshold"""
    bound: str | None = None
    """by which its mean size is bounded: as for the efficiency of a certificate without groups"""
    upper_bound: float | None = None
    """on the mean size of its future sets, cut at the cap"""
    efficiency: float | None = None
    """mean of min(size / cap, 1) on D_N, at the grid point taken if there is a grid"""
    grid_size: int | None = None
    size_counts: list[list[int]] | None = None
    """[level, points] at the grid point taken"""
    size_k: int | None = None
    """the rank, from above, of the next among its sizes on D_N"""
    size_quantile: float | None = None
    """at most a tenth of its future sets is larger, whatever the cap"""
    open_sizes: int | None = None
    """how many sizes were open to it beforehand; null where the threshold was rounded up to its grid instead"""
    blocks: list[GroupBlock] | None = None
    """of a pool: one for each member"""

    @property
    def points_of_sizes(self) -> int:
        """On which its sizes are bounded: all, or those of the last block."""
        return self.blocks[-1].n if self.blocks else self.n

    def thresholds(self) -> list[tuple[float, float | None]]:
        """Of each member: both halves; infinite without one."""
        if self.blocks is None:
            return [(math.inf if self.tau is None else self.tau, self.tie)]
        return [(math.inf if block.tau is None else block.tau, block.tie) for block in self.blocks]
