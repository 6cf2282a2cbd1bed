"""A deployment that is watched and recalibrated, where the true miscoverage of each of its predictors is known.

Scores are uniform, or after a drift their sixth roots, so that a threshold tau misses 1 - tau, or 1 - tau ** 6. Every
outcome feeds the monitor and the open block alike, as in the service. A predictor is calibrated on its block alone; or
it is a pool of two members, of which the one on the block before is kept.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certiset.core.bounds import Supermartingale, progressive_ranks, vovk_2b

ALPHA = 0.1
_DRIFT = 6
_LOOKS = 10
"""rows between two looks of an adversary"""
_NEVER = 3
"""more misses than outcomes"""


@dataclass(frozen=True)
class Recalibrated:
    """What became of many deployments, each with so many predictors after its first."""

    broken: NDArray[np.int64]
    """(runs,): predictors whose miscoverage is above alpha, the first one included"""
    spent: NDArray[np.float64]
    """(runs,): the account, with the blocks that a contradiction dropped"""
    alarms: NDArray[np.int64]
    """(runs,)"""
    broken_after_alarm: int
    """predictors of the first block after an alarm that are broken"""
    after_alarm: int
    """of so many"""


@dataclass
class _Served:
    """The two members that are served, which are the same where there is one; (runs,) each."""

    old: NDArray[np.float64]
    new: NDArray[np.float64]

    def missed(self, drift: int) -> NDArray[np.float64]:
        return 1 - (self.old**drift + self.new**drift) / 2


def recalibrate(
    *,
    runs: int,
    seed: int,
    rows: int,
    delta: float,
    predictors: int = 10,
    eta: float = 0.01,
    drift_after: int | None = None,
    ended_by: str = "rows",
    pool: bool = False,
) -> Recalibrated:
    """``drift_after`` so many outcomes the law of the scores changes.

    ``ended_by`` "outcomes": an adversary who knows the law ends a block early, from half of its rows on, as soon as its
    threshold would be too low.
    """
    rng, alone = np.random.default_rng(seed), int(vovk_2b(rows, ALPHA, delta))
    ranks = {size: int(vovk_2b(size, ALPHA, delta)) for size in range(rows // 2, rows, _LOOKS)}
    as_old, as_new = progressive_ranks([rows, rows], ALPHA, delta) if pool else (alone, alone)
    limits = alarm_limits(eta, 4 * rows * predictors)
    kept = rng.random((runs, rows))
    # What the block before has for a member that is kept; NaN: there is none.
    before = _thresholds(kept, as_old) if pool else np.full(runs, np.nan)
    newest = _thresholds(kept, as_new)
    served = _Served(_thresholds(rng.random((runs, rows)), as_old) if pool else newest.copy(), newest)
    made, broken = np.zeros(runs, dtype=np.int64), (served.missed(1) > ALPHA).astype(np.int64)
    count, seen, misses = (np.zeros(runs, dtype=np.int64) for _ in range(3))
    spent, alarms, quiet = np.full(runs, delta), np.zeros(runs, dtype=np.int64), np.ones(runs, dtype=bool)
    fresh_block, after, broken_after = np.zeros(runs, dtype=bool), 0, 0
    everyone, time = np.arange(runs), 0
    while (made < predictors).any() and time < len(limits) - 1:
        drift = _DRIFT if drift_after is not None and time >= drift_after else 1
        score = rng.random(runs) ** (1 / drift)
        time += 1
        active = made < predictors
        kept[everyone, count] = score
        count += active
        tau = np.where(rng.random(runs) < 0.5, served.old, served.new) if pool else served.new
        seen, misses = seen + active, misses + (active & (score > tau))
        alarm = active & quiet & (misses >= limits[seen])
        # No row that the alarm may rest on calibrates anything. What is dropped is on the account, and for a pool that
        # has ended one block more.
        spent = spent + delta * alarm * np.where(np.isnan(before), 1, 2)
        alarms, quiet = alarms + alarm, quiet & ~alarm
        count[alarm], before[alarm], fresh_block = 0, np.nan, (fresh_block | alarm) & active
        ended = active & (count == rows)
        if ended_by == "outcomes":
            ended |= active & _would_break(kept, count, ranks)
        for run in np.flatnonzero(ended):
            block, has_old = kept[run, : count[run]], not np.isnan(before[run])
            served.new[run] = _threshold(block, as_new if has_old else ranks.get(len(block), alone))
            served.old[run] = before[run] if has_old else served.new[run]
            before[run] = _threshold(block, as_old) if pool else np.nan
        wrong = ended & (served.missed(drift) > ALPHA)
        broken += wrong
        after += int(np.count_nonzero(ended & fresh_block))
        broken_after += int(np.count_nonzero(wrong & fresh_block))
        made, spent = made + ended, spent + delta * ended
        count[ended], seen[ended], misses[ended], quiet[ended], fresh_block[ended] = 0, 0, 0, True, False
    return Recalibrated(broken, spent, alarms, broken_after, after)


def alarm_limits(eta: float, outcomes: int) -> NDArray[np.int64]:
    """(outcomes + 1,): with how many misses among so many outcomes the monitor contradicts."""
    limits = np.full(outcomes + 1, outcomes + _NEVER, dtype=np.int64)
    found, threshold = 1, -np.log(eta)
    for seen in range(1, outcomes + 1):
        while (
            found <= seen and Supermartingale(ALPHA, outcomes=seen, misses=found, log_peak=0.0).log_capital < threshold
        ):
            found += 1
        if found <= seen:
            limits[seen] = found
    return limits


def _threshold(scores: NDArray[np.float64], rank: int) -> float:
    place = len(scores) - rank
    return float(np.partition(scores, place)[place])


def _thresholds(scores: NDArray[np.float64], rank: int) -> NDArray[np.float64]:
    place = scores.shape[1] - rank
    return np.partition(scores, place, axis=1)[:, place]


def _would_break(kept: NDArray[np.float64], count: NDArray[np.int64], ranks: dict[int, int]) -> NDArray[np.bool_]:
    """Whether a threshold on the rows so far would miss more than alpha."""
    found = np.zeros(len(count), dtype=bool)
    for run in np.flatnonzero(np.isin(count, list(ranks))):
        size = int(count[run])
        found[run] = np.count_nonzero(kept[run, :size] > 1 - ALPHA) < ranks[size]
    return found
