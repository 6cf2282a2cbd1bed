"""Thresholds for all alpha at once, and what sets cost at some levels: for one member, on D_N."""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import torch
from torch import Tensor

from certiset.core.bounds import simultaneous_grid
from certiset.core.certificate.content import Efficiency
from certiset.core.certificate.levels import ALPHA_MAX, MOST_COUNTS, SHARES, TABLE, Level, Levels
from certiset.core.certificate.sizes import GRID_BETTING, reason_against
from certiset.core.fit.fitted import Fitted
from certiset.core.fit.reference_rows import ReferenceRows
from certiset.core.fit.rows import Rows
from certiset.core.fit.scorer import Scorer
from certiset.core.fit.size_unit import SizeUnit
from certiset.core.fit.thresholds import count_sizes, fixed_grid, grid_point, predict_rows
from certiset.core.fit.ties import Threshold
from certiset.core.scores import ModelOutputs

_ROUNDING = 1e-9


def all_thresholds(
    scorer: Scorer,
    prediction: ModelOutputs,
    theta: Tensor,
    rows: Rows,
    ranks: list[int],
    reference: ReferenceRows | None,
) -> Threshold:
    """One for each rank, raised by a rounding error as that of one level is; they do not grow with the rank."""
    scores = scorer.score.of_target(prediction, rows.y)[0]
    found = scorer.rule.ties.thresholds(scores, rows, ranks)
    rounding = scorer.score.rounding(prediction, found.tau)
    if reference is not None:
        rounding = rounding.clamp(min=reference.slack(theta, scores))
    raised = found.tau + rounding
    # Rounding may have changed the order of equal ones; a larger threshold covers more.
    return found._replace(tau=raised.flip(0).cummax(0).values.flip(0))


@torch.no_grad()
def with_levels(
    fitted: Fitted,
    rows: Rows,
    tuning: Rows | None,
    reference: ReferenceRows | None,
    *,
    delta: float,
    gamma: float,
    alpha: float,
) -> Fitted:
    """What was fitted at one level, ``alpha``, with the thresholds and sizes of all others.

    ``delta`` and ``gamma`` are what the choice may spend. Sizes are certified at the points of the same grid as that
    of the one level: its union is over all points, so that every threshold has its bound at once.
    """
    scorer, theta, efficiency = fitted.scorer, fitted.theta[0], fitted.efficiency
    ranks, levels = simultaneous_grid(fitted.coverage.n, delta, ALPHA_MAX)
    prediction = predict_rows(scorer, theta, rows)
    found = all_thresholds(scorer, prediction, theta, rows, ranks.tolist(), reference)
    taus = [*map(scorer.in_targets_unit, found.tau.double().tolist())]
    ties = None if found.tie is None else found.tie.tolist()
    table = []
    for level in [level for level in TABLE if level >= levels[0]]:
        place = int(np.searchsorted(levels, level, side="right")) - 1
        threshold = Threshold(found.tau[place : place + 1], None if found.tie is None else found.tie[place : place + 1])
        size = scorer.size(prediction, threshold, rows)[0]
        unit = SizeUnit.of(scorer)
        ordered = size.sort().values[[math.ceil(share * len(rows) - 1e-9) - 1 for share in SHARES]]
        measured = Level(
            alpha=level,
            k=int(ranks[place]),
            tau=taus[place],
            size=unit.multiply([float(size.double().mean())])[0],
            sizes=unit.multiply(ordered.double().tolist()),
            tie=None if ties is None else ties[place],
        )
        if (law := scorer.score.one_size) is not None:
            largest = unit.multiply([float(size.max())])[0]
            measured = replace(measured, size_bound=max(largest, law.at(taus[place], efficiency.dimensions)))
        elif efficiency.bound == GRID_BETTING:
            measured = _certified(
                measured, scorer, theta, prediction, threshold, rows, tuning, efficiency, gamma, alpha
            )
        table.append(measured)
    own = int(np.searchsorted(levels, alpha, side="right")) - 1
    member = replace(fitted.members[0], tau=taus[own])
    return replace(fitted, members=[member], levels=Levels(ALPHA_MAX, taus, list(SHARES), table, ties))


def _certified(
    level: Level,
    scorer: Scorer,
    theta: Tensor,
    prediction: ModelOutputs,
    threshold: Threshold,
    rows: Rows,
    tuning: Rows | None,
    efficiency: Efficiency,
    gamma: float,
    around: float,
) -> Level:
    """With a bound on its mean size, if there is one that says something."""
    assert efficiency.cap is not None
    assert efficiency.grid_size is not None
    cap = SizeUnit.of(scorer).divide(efficiency.cap)
    fixed = fixed_grid(scorer, efficiency.cap) if tuning is None else []
    upper = grid_point(scorer, theta, threshold, tuning=tuning, cap=cap, fixed=fixed, around=around)
    at_grid = torch.where(torch.isinf(upper.tau), cap, scorer.size(prediction, upper, rows)[0])
    counts = count_sizes(scorer, at_grid, cap)
    if len(counts.levels) > MOST_COUNTS:
        counts = counts.rounded_up(_ladder(counts.steps))
    bound = efficiency.cap * counts.grid_upper_bound(gamma, efficiency.grid_size)
    if reason_against(efficiency.measure, bound, efficiency.cap, level.size) is not None:
        return level
    return replace(level, size_bound=bound, size_counts=counts.to_json())


@cache
def _ladder(steps: int) -> tuple[int, ...]:
    """At most as many sizes as a certificate lists for a level, a constant factor apart where they are far from 0."""
    points = MOST_COUNTS
    while True:
        # 0 stays what it is.
        found = np.unique(np.ceil(np.geomspace(1, steps, points) - _ROUNDING)).astype(int).tolist()
        if len(found) >= min(MOST_COUNTS - 1, steps):
            return (0, *found[: MOST_COUNTS - 2], steps) if len(found) > MOST_COUNTS - 1 else (0, *found)
        points += 1
