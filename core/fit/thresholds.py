"""Exact calibration: thresholds and sizes of given members on D_N, in bounded memory, each row seen once per member."""

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from certiset.core.bounds import SizeCounts
from certiset.core.errors import DataError
from certiset.core.fit.reference_rows import ReferenceRows
from certiset.core.fit.rows import Rows
from certiset.core.fit.scorer import Scorer
from certiset.core.fit.size_unit import SizeUnit
from certiset.core.fit.ties import Threshold, Ties
from certiset.core.scores import ModelOutputs

ROWS_AT_ONCE = 65_536
GRID_POINTS = 64
_GRID_LEVELS = (-2.0, 0.0)
"""mean efficiencies from 0.01 to 1, as powers of ten"""
_DENSE_POINTS = 44
_DENSE_LEVELS = (-0.125, 0.38)
"""from 0.75 to 2.4 times the efficiency that is expected, as powers of ten: tuned models look better on tuning rows"""
_GRID_ROWS = 200
_REACHES = (-6, 40)
"""powers of two that the grid may reach to"""
_NEARLY = 1e-3
_SMALL_THRESHOLD = 2.0**-10
"""in the scorer's unit, that of the model's errors"""


@dataclass(frozen=True)
class Calibrated:
    """One entry per member, on the host, in the unit of the targets."""

    tau: list[float]
    size: list[float]
    """mean size of the sets on D_N"""
    efficiency: list[float]
    """mean of min(size / cap, 1) on D_N, thresholds rounded up to the grid if there is one"""
    size_quantile: list[float]
    """the size of the given rank from above at the threshold, or at the next point of the grid, infinite beyond"""
    largest: list[float]
    """the largest size on D_N"""
    rounding: list[float]
    """what the threshold was raised by, as a share of it"""
    counts: list[SizeCounts]
    """of the sizes that efficiency is the mean of; with a grid alone"""
    tie: list[float]
    """the other half of the threshold, where ties are broken, and otherwise nothing"""


@torch.no_grad()
def predict_rows(scorer: Scorer, theta: Tensor, rows: Rows) -> ModelOutputs:
    """All rows for one theta (d,), a chunk at a time."""
    parts = [
        scorer.predict(theta.unsqueeze(0), rows.slice(start, start + ROWS_AT_ONCE))
        for start in range(0, len(rows), ROWS_AT_ONCE)
    ]
    scales = [part.scale for part in parts if part.scale is not None]
    return ModelOutputs(
        torch.cat([part.outputs for part in parts], dim=1), torch.cat(scales, dim=1) if scales else None
    )


@torch.no_grad()
def calibrate(
    scorer: Scorer,
    theta: Tensor,
    rows: Rows,
    ranks: list[int],
    *,
    tuning: Rows | None,
    cap: float | None,
    fixed: list[float] | None = None,
    size_ranks: list[int] | None = None,
    sizes_at_grid: bool = True,
    reference: ReferenceRows | None = None,
    around: float | None = None,
) -> Calibrated:
    """Thresholds at the given ranks (one per member, at least 1), raised by a rounding error, and what they cost.

    The rounding error is what the score says, or what the reference rows show if that is more.

    Efficiency, and with ``sizes_at_grid`` the size of rank ``size_ranks`` (0: none) from above, are measured at the
    smallest point above tau of a grid: one that depends on theta and the tuning rows alone, or the ``fixed`` one.
    ``around`` is the level near which most points of the former lie, if any.
    """
    unit = SizeUnit.of(scorer)
    cap = None if cap is None else unit.divide(cap)
    taus: list[Tensor] = []
    sizes: list[Tensor] = []
    efficiencies: list[Tensor] = []
    quantiles: list[Tensor] = []
    largest: list[Tensor] = []
    raised: list[Tensor] = []
    counts: list[SizeCounts] = []
    ties: list[Tensor] = []
    for member, rank, size_rank in zip(theta, ranks, size_ranks or [0] * len(ranks), strict=True):
        prediction = predict_rows(scorer, member, rows)
        scores = scorer.score.of_target(prediction, rows.y)[0]
        threshold = scorer.rule.ties.threshold(scores, rows, rank)
        tau = threshold.tau
        rounding = scorer.score.rounding(prediction, tau)
        if reference is not None:
            rounding = rounding.clamp(min=reference.slack(member, scores))
        raised.append(rounding / tau.abs().clamp(min=_SMALL_THRESHOLD))
        threshold = threshold._replace(tau=tau + rounding)
        size = scorer.size(prediction, threshold, rows)
        taus.append(threshold.tau)
        ties += [] if threshold.tie is None else [threshold.tie]
        sizes.append(size.mean().view(1))
        largest.append(size.max().view(1))
        at_grid = size
        if cap is not None:
            upper = grid_point(scorer, member, threshold, tuning=tuning, cap=cap, fixed=fixed or [], around=around)
            beyond = torch.isinf(upper.tau)
            at_grid = size if upper is threshold else scorer.size(prediction, upper, rows)
            counts.append(count_sizes(scorer, torch.where(beyond, cap, at_grid[0]), cap))
            efficiencies.append(torch.tensor([counts[-1].mean], dtype=torch.float64))
            at_grid = torch.where(beyond, upper.tau.to(at_grid.dtype), at_grid)
        if size_rank:
            measured = at_grid if sizes_at_grid else _in_order(scorer, prediction, threshold, rows, size)
            quantiles.append(measured[0].kthvalue(len(rows) + 1 - size_rank).values.view(1))
    answer = Calibrated(
        [*map(scorer.in_targets_unit, _host(taus))],
        unit.multiply(_host(sizes)),
        _host(efficiencies),
        unit.multiply(_host(quantiles)),
        unit.multiply(_host(largest)),
        _host(raised),
        counts,
        _host(ties),
    )
    if not all(map(math.isfinite, answer.tau + answer.size)):
        raise DataError("scores or set sizes are too large for the precision of the fit: rescale the data.")
    return answer


def grid_point(
    scorer: Scorer,
    theta: Tensor,
    threshold: Threshold,
    *,
    tuning: Rows | None,
    cap: float,
    fixed: list[float],
    around: float | None,
) -> Threshold:
    """The smallest point above the threshold of the grid that sizes are measured at, or of all points."""
    if tuning is not None:
        return next_grid_point(scorer, theta, tuning, cap, threshold, around)
    if fixed:
        return _smallest_above(scorer.rule.ties, threshold.tau.new_tensor(fixed), threshold)
    return scorer.rule.ties.rounded_up(threshold)


@torch.no_grad()
def next_grid_point(
    scorer: Scorer, theta: Tensor, tuning: Rows, cap: float, threshold: Threshold, around: float | None = None
) -> Threshold:
    """The smallest grid point that lets in all that the threshold does; +infinity where that is beyond the grid.

    Grid points are the thresholds at which the mean efficiency on some tuning inputs is a given level. Levels grow by a
    constant factor, so rounding up costs a few per cent of the size wherever tau lies within reach, and reach is where
    the sets of those inputs grow no more. With a level ``around`` which tau is expected, most of them lie near the
    efficiency that the tuning rows have there, where rounding up costs one per cent.
    """
    rows = tuning.slice(0, _GRID_ROWS)
    prediction = predict_rows(scorer, theta, rows)
    tau, ties = threshold.tau, scorer.rule.ties
    reach = _reach(scorer, prediction, rows, cap, tau)
    if around is None:
        levels = torch.logspace(*_GRID_LEVELS, GRID_POINTS, device=tau.device, dtype=tau.dtype)
    else:
        scores = scorer.score.of_target(prediction, rows.y)[0]
        usual = ties.threshold(scores, rows, len(rows) + 1 - max(1, round((1 - around) * len(rows))))
        levels = size_levels((scorer.size(prediction, usual, rows) / cap).clamp(max=1).mean(), tau)
    low, high = -reach.expand(GRID_POINTS), reach.expand(GRID_POINTS)
    for _ in range(ties.halvings):
        middle = 0.5 * (low + high)
        enough = (scorer.size(prediction, ties.at(middle), rows) / cap).clamp(max=1).mean(dim=1) >= levels
        low, high = torch.where(enough, low, middle), torch.where(enough, middle, high)
    return _smallest_above(ties, high, threshold)


def size_levels(expected: Tensor, like: Tensor) -> Tensor:
    """(G,): mean efficiencies of a grid's points, most of them near the one that is expected."""
    coarse = torch.logspace(*_GRID_LEVELS, GRID_POINTS - _DENSE_POINTS, device=like.device, dtype=like.dtype)
    dense = expected * torch.logspace(*_DENSE_LEVELS, _DENSE_POINTS, device=like.device, dtype=like.dtype)
    return torch.cat([coarse, dense.clamp(max=1)])


def _smallest_above(ties: Ties, points: Tensor, threshold: Threshold) -> Threshold:
    """Of the points; infinite where the threshold lies beyond all of them."""
    above = torch.where(ties.covers(ties.at(points), threshold), points, torch.full_like(points, torch.inf))
    return ties.at(above.min().view(1))


def _reach(scorer: Scorer, prediction: ModelOutputs, rows: Rows, cap: float, like: Tensor) -> Tensor:
    """The first power of two at which the sets of these inputs have grown as far as they will, but for a thousandth."""
    powers = torch.logspace(*_REACHES, _REACHES[1] - _REACHES[0] + 1, base=2, device=like.device, dtype=like.dtype)
    means = (scorer.size(prediction, scorer.rule.ties.at(powers), rows) / cap).clamp(max=1).mean(dim=1)
    return torch.where(means >= means[-1] - _NEARLY, powers, powers[-1]).min()


def _in_order(scorer: Scorer, prediction: ModelOutputs, threshold: Threshold, rows: Rows, size: Tensor) -> Tensor:
    """Sizes at a threshold of a family that is in order, which a quantile needs; where ties are broken, stored ones
    are not: what they were raised by depends on the rows."""
    upper = scorer.rule.ties.rounded_up(threshold)
    return size if upper is threshold else scorer.size(prediction, upper, rows)


def count_sizes(scorer: Scorer, sizes: Tensor, cap: float) -> SizeCounts:
    """How often each size occurs: labels one by one, others in steps of the cap; both are in the scorer's unit."""
    found = sizes.double().cpu().numpy()
    if scorer.score.cap_is_fixed:
        return SizeCounts.of_labels(found.round().astype(np.int64), round(cap))
    return SizeCounts.of_capped(found, cap)


def fixed_grid(scorer: Scorer, cap: float) -> list[float]:
    """Thresholds that depend on no row at all, in the scorer's unit, which changes none of them: see `target_unit`."""
    return scorer.score.fixed_thresholds(scorer.model.outputs, SizeUnit.of(scorer).divide(cap))


def size_cap(scorer: Scorer, tuning: Rows | None, given: float | None) -> float | None:
    """The size that counts as 1, fixed before D_N: all labels, or else what was given, or else what the score says."""
    if scorer.score.cap_is_fixed:
        # No count of labels is ever cut, also those of a score that is not ours.
        return float(scorer.model.outputs)
    if given is not None:
        return given
    own = scorer.score.size_cap(scorer.model.outputs, None if tuning is None else tuning.y)
    return None if own is None else SizeUnit.of(scorer).multiply([own])[0]


def _host(values: list[Tensor]) -> list[float]:
    return torch.cat(values).double().tolist() if values else []
