"""All alpha at once: a threshold for every rank, and what sets cost at some levels."""

from dataclasses import dataclass

ALPHA_MAX = 0.3
"""the largest level with a rank of its own; a larger one gets the same sets"""
TABLE = (0.001, 0.002, 0.005, *(place / 100 for place in range(1, 31)))
"""levels whose sizes are measured"""
SHARES = (*(place / 20 for place in range(1, 20)), 0.99, 1.0)
"""of sets, whose largest size is measured"""
MOST_COUNTS = 64
"""different sizes at a level that a certificate lists, so that it stays readable"""


@dataclass(frozen=True)
class Level:
    """One of the levels of the table."""

    alpha: float
    k: int
    tau: float
    size: float
    """mean size on D_N"""
    sizes: list[float]
    """that the shares of D_N's sets do not exceed"""
    tie: float | None = None
    size_bound: float | None = None
    """on the mean size of future sets, for all levels at once; null where none is certified"""
    size_counts: list[list[int]] | None = None
    """[level, rows] at the grid point taken, as of a member: what the bound is computed from; where there would be too
    many, sizes are rounded up to fewer"""


@dataclass(frozen=True)
class Levels:
    """The thresholds of all ranks; which rank may be used at an alpha follows from n and delta."""

    alpha_max: float
    taus: list[float]
    """one for each rank of the grid, the first rank first: they do not grow"""
    shares: list[float]
    table: list[Level]
    ties: list[float] | None = None
    """the other halves of the thresholds, where ties are broken"""
