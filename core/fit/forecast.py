r"""What revealed rows say about the sets that each way of going on would give.

A candidate's log size relative to the model as given is known at two numbers of tuning rows, and carried on along the
logarithm of that number. The fall that was seen between them is noisy, so it is shrunk halfway towards one that is
typical: for a head with more parameters than rows, which is free to move and still learns, that is a seventh of the
size for each doubling; for all others it is none. What fewer calibration rows cost is known from how the sizes of the
model as given grow with the level, and the level that a number of rows allows; every candidate's own growth would be
noise that decides between them.

While another look is to come, going on settles nothing and costs little, so the expected size alone decides. The last
look commits rows for good, so a candidate must then be better by more than chance makes it.

All of this is a guess from revealed rows. It decides what is done with the others, and no promise rests on it: given
the revealed rows the others are still independent draws, and their number is known when one stops.
"""

import math
from dataclasses import dataclass, replace

from certiset.core.bounds import vovk_2b
from certiset.core.bounds.vovk2b import smallest_n_2b
from certiset.core.fit.families import Family

TYPICAL_FALL = 0.15
"""of the log size per doubling of the rows, where a head is free to move and has more parameters than rows"""
_STEEPEST = 0.25
"""fall that is believed"""
_FEW_OUTPUTS = 12
"""with more labels than that there are fewer rows of each, and more doubt"""
_DOUBT = 8.0
"""a candidate must be better than the model as given by so much over the revealed rows, in log size, and at the last
look by as much again for every doubling of the rows that its curve is carried on"""


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
    typical_fall: float = 0.0
    """per doubling of the rows, of candidates of its kind"""

    @property
    def name(self) -> str:
        return "as given" if self.family is None else self.family.words(self.pull)

    def after(self, earlier: "Trial") -> "Trial":
        """The same with what an earlier look, on fewer rows, said about it."""
        return replace(
            self,
            rows=(earlier.rows[1], self.rows[1]),
            heights=(earlier.heights[1], self.heights[1]),
            typical_fall=earlier.typical_fall,
        )

    def at(self, rows: float) -> float:
        """The relative log size that is expected when so many rows tune it."""
        (few, more), (before, now) = self.rows, self.heights
        if self.family is None or more <= few:
            return now
        seen = max(0.0, min(_STEEPEST, (before - now) / math.log2(more / few)))
        return now - (seen + self.typical_fall) / 2 * self.doublings(rows)

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
    looks_again: bool = False,
    groups: int = 1,
) -> Way:
    """Stop and calibrate all other rows, or reveal up to ``revealed_later`` and go on; None if that is not open.

    ``trials`` begin with the model as given. ``looks_again`` says that going on will be decided once more. Of
    ``groups`` with thresholds each has its part of the rows that calibrate, and of delta.
    """
    doubt = _DOUBT / revealed * max(1.0, outputs / _FEW_OUTPUTS)
    stops = [Way(trial, False, trial.heights[1] + (0.0 if trial.family is None else doubt)) for trial in trials]
    stop = min(stops, key=lambda way: way.expected)
    tuned = [trial for trial in trials if trial.family is not None]
    if revealed_later is None or not tuned:
        return stop
    # Members of a pool are tuned on what was revealed and on the blocks before their own.
    average = revealed_later + (rows - revealed_later) / 4
    fewer_rows = _log_level(rows - revealed_later, alpha, delta, groups) - _log_level(
        rows - revealed, alpha, delta, groups
    )
    lower_level = trials[0].slope * fewer_rows
    doubts = {trial.name: 0.0 if looks_again else doubt * (1 + trial.doublings(average)) for trial in tuned}
    goes = [Way(trial, True, trial.at(average) + lower_level + doubts[trial.name]) for trial in tuned]
    go = min(goes, key=lambda way: way.expected)
    # Another look will doubt both ways that tune alike.
    waived = doubt if looks_again and stop.trial.family is not None else 0.0
    return go if go.expected < stop.expected - waived else stop


def _log_level(n: int, alpha: float, delta: float, groups: int = 1) -> float:
    """Of the level that n rows, in as many groups, allow, against alpha itself.

    Groups with thresholds have the rows for them, even where an equal part of all rows would be too few.
    """
    each = max(n // groups, smallest_n_2b(alpha, delta / groups))
    return math.log(int(vovk_2b(each, alpha, delta / groups)) / (each + 1) / alpha)
