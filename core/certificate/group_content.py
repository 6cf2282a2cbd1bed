"""What a certificate says of one group: its rows, its share of delta, its threshold and the size of its sets."""

from dataclasses import dataclass


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
    size: float | None
    """mean size of its sets on D_N; null where they are unbounded, or there are no points"""
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
