r"""The mean size of sets in which each class has a threshold of its own, certified on D_N.

**Statement.** Fix, from D_0 alone, a base b_y for each class and shifts s_1 < .. < s_G. Let s be the smallest shift
with tau_y <= b_y + s for every class, infinite if there is none. The rows of D_N are independent draws, so that for
each of the G points the sizes of their sets at (b_y + s_g)_y are independent with mean E_g, and with gamma / G each
(betting, `certiset.core.bounds`) all means are below their bounds at once, except with probability gamma. Sets at the
thresholds tau are contained in those at the point taken, so that their mean size is at most E_g, too: one index for
all classes.

*Why not class by class:* given the labels of D_N, rows of different classes have different laws, and every threshold
enters every set. Which classes have none depends on these labels; so a class that is expected to have none, by its
share of D_0, has an infinite base, and where another one turns out to have none, nothing is certified.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from certiset.core.bounds import SizeCounts, smallest_n_2b, vovk_2b
from certiset.core.fit.group_thresholds import ClassThresholds
from certiset.core.fit.rows import Rows
from certiset.core.fit.scorer import Scorer
from certiset.core.fit.thresholds import GRID_POINTS, ROWS_AT_ONCE, count_sizes, fixed_grid, predict_rows, size_levels
from certiset.core.fit.ties import TOGETHER, Threshold

_GRID_ROWS = 500
_HALVINGS = 24
_REACH = 2.0**20
_DEVIATIONS = 2.0
"""by which a class must be expected to have more rows than a threshold needs"""
_FEWEST = 5
"""tuning rows of a class by which its base is its own; with fewer it is that of all"""


@dataclass(frozen=True)
class ClassGrid:
    base: Tensor
    """(classes,)"""
    shifts: Tensor
    """(G,), in order"""

    def above(self, tau: Tensor) -> Tensor:
        """(1, classes): the smallest point at which no class has less than its threshold; infinite beyond the grid."""
        points = self.base + self.shifts.unsqueeze(1)
        # As they are compared with scores, whatever the sums were rounded to.
        found = points[(points >= tau).all(dim=1)]
        return found[:1] if len(found) else torch.full_like(points[:1], torch.inf)


def sizes_by_class(
    scorer: Scorer,
    theta: Tensor,
    rows: Rows,
    tuning: Rows | None,
    thresholds: ClassThresholds,
    *,
    alpha: float,
    delta: float,
) -> tuple[SizeCounts, int] | None:
    """How often each number of labels occurs on D_N at the point of the grid that is taken, and the points there are.

    None where nothing can be said: beyond the grid, or where ties are broken by a hash.
    """
    if scorer.rule.ties is not TOGETHER:
        return None
    tau = torch.tensor(thresholds.tau, dtype=theta.dtype, device=theta.device)
    grid = make_class_grid(scorer, theta, tuning, len(rows), alpha, delta)
    point = grid.above(tau)
    if bool(torch.isinf(point).all()):
        return None
    sizes = [_sizes(scorer, theta, rows.slice(s, s + ROWS_AT_ONCE), point) for s in range(0, len(rows), ROWS_AT_ONCE)]
    return count_sizes(scorer, torch.cat(sizes), float(scorer.model.outputs)), len(grid.shifts)


@torch.no_grad()
def make_class_grid(
    scorer: Scorer, theta: Tensor, tuning: Rows | None, n: int, alpha: float, delta: float
) -> ClassGrid:
    """Of theta, the tuning rows and the number of points alone; without such rows one threshold for all classes."""
    classes = scorer.model.outputs
    if tuning is None:
        fixed = fixed_grid(scorer, float(classes))
        return ClassGrid(theta.new_zeros(classes), theta.new_tensor(fixed).sort().values)
    base = _base(scorer, theta, tuning, n, alpha, delta)
    rows = tuning.slice(0, _GRID_ROWS)
    prediction = predict_rows(scorer, theta, rows)

    def efficiency(shifts: Tensor) -> Tensor:
        """(G,): the mean share of the labels that are in a set."""
        points = Threshold(base + shifts.unsqueeze(1))
        return scorer.rule.size_by_class(scorer.score, prediction, points, rows.digests).mean(dim=1) / classes

    expected = efficiency(theta.new_zeros(1))[0]
    levels = size_levels(expected.clamp(min=1 / classes), theta)
    low, high = theta.new_full((GRID_POINTS,), -_REACH), theta.new_full((GRID_POINTS,), _REACH)
    for _ in range(2 * _HALVINGS):
        middle = 0.5 * (low + high)
        enough = efficiency(middle) >= levels
        low, high = torch.where(enough, low, middle), torch.where(enough, middle, high)
    return ClassGrid(base, high.sort().values)


def _base(scorer: Scorer, theta: Tensor, tuning: Rows, n: int, alpha: float, delta: float) -> Tensor:
    """(classes,): where each threshold is expected."""
    scores = scorer.score.of_target(predict_rows(scorer, theta, tuning), tuning.y)[0]
    classes, own = scorer.model.outputs, delta / scorer.model.outputs
    needed = smallest_n_2b(alpha, own)
    base = []
    for label in range(classes):
        found = scores[tuning.y == label]
        points = int(n * len(found) / len(tuning))
        if points < needed + _DEVIATIONS * math.sqrt(needed):
            base.append(math.inf)
            continue
        level = int(vovk_2b(points, alpha, own)) / (points + 1)
        used = found if len(found) >= _FEWEST else scores
        base.append(float(used.kthvalue(min(len(used), math.ceil((1 - level) * (len(used) + 1)))).values))
    return theta.new_tensor(base)


def _sizes(scorer: Scorer, theta: Tensor, rows: Rows, point: Tensor) -> Tensor:
    return scorer.rule.size_by_class(scorer.score, predict_rows(scorer, theta, rows), Threshold(point), rows.digests)[0]
