r"""What revealed rows say about the sets that each way of going on would give.

A candidate's log size relative to the model as given is known at two numbers of tuning rows. It is carried on along the
logarithm of that number, a little less steeply than it was seen to fall: learning curves flatten. What fewer
calibration rows cost is known from how the sizes grow with the level, and the level that a number of rows allows.

All of this is a guess from revealed rows. It decides what is done with the others, and no promise rests on it: given
the revealed rows the others are still independent draws, and their number is known when one stops.
"""

import math
from dataclasses import dataclass, replace

from certiset.core.bounds import vovk_2b
from certiset.core.fit.families import Family

_KEPT_SLOPE = 0.8
_STEEPEST = 0.25
"""log size per doubling of the rows"""
_FARTHEST = 2.25
"""doublings that a curve is carried on"""
_FEW_OUTPUTS = 12
"""with more labels than that there are fewer rows of each, and more doubt"""
_DOUBT = 8.0
"""a candidate must be better than the model as given by so much over the revealed rows, in log size, and by as much
again for every doubling of the rows that its curve is carried on"""


@dataclass(frozen=True)
class Trial:
    """One candidate, measured by cross-validation; family None is the model as given."""

    family: Family | None
    pull: float
    rows: tuple[int, int]
    """that it was tuned on, fewer and more"""
    heights: tuple[float, float]
    """log sizes there, relative to the model as given"""
    slope: float
    """of the log size in the log level"""

    @property
    def name(self) -> str:
        return "as given" if self.family is None else self.family.words(self.pull)

    def after(self, earlier: "Trial") -> "Trial":
        """The same with what an earlier look, on fewer rows, said about it."""
        return replace(self, rows=(earlier.rows[1], self.rows[1]), heights=(earlier.heights[1], self.heights[1]))

    def at(self, rows: float) -> float:
        """The relative log size that is expected when so many rows tune it."""
        (few, more), (before, now) = self.rows, self.heights
        if self.family is None or more <= few:
            return now
        fall = max(-_STEEPEST, min(0.0, (now - before) / math.log2(more / few)))
        return now + _KEPT_SLOPE * fall * min(_FARTHEST, self.doublings(rows))

    def doublings(self, rows: float) -> float:
        """From the rows that it was tuned on to so many."""
        return max(0.0, math.log2(rows / self.rows[1]))


@dataclass(frozen=True)
class Way:
    """A way to go on: what is tuned, on how many rows on average, and how many calibrate."""

    trial: Trial
    goes_on: bool
    expected: float
    """log size"""


def best_way(
    trials: list[Trial],
    revealed: int,
    rows: int,
    revealed_later: int | None,
    *,
    alpha: float,
    delta: float,
    outputs: int = 1,
) -> Way:
    """Stop and calibrate all other rows, or reveal up to ``revealed_later`` and go on; None if that is not open."""
    doubt = _DOUBT / revealed * max(1.0, outputs / _FEW_OUTPUTS)
    lower = _log_level(rows - revealed, alpha, delta)
    ways = [
        Way(trial, False, trial.heights[1] + trial.slope * lower + (0.0 if trial.family is None else doubt))
        for trial in trials
    ]
    if revealed_later is not None:
        # Members of a pool are tuned on what was revealed and on the blocks before their own.
        average = revealed_later + (rows - revealed_later) / 4
        lower = _log_level(rows - revealed_later, alpha, delta)
        ways += [
            Way(trial, True, trial.at(average) + trial.slope * lower + doubt * (1 + trial.doublings(average)))
            for trial in trials
            if trial.family is not None
        ]
    return min(ways, key=lambda way: way.expected)


def _log_level(n: int, alpha: float, delta: float) -> float:
    """Of the level that n rows allow, against alpha itself."""
    return math.log(int(vovk_2b(n, alpha, delta)) / (n + 1) / alpha)
