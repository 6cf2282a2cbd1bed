"""The sizes of a pool's sets on its last block, as `certiset.core.certificate.pool_sizes` wants them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from certiset.core.fit.rows import Rows
from certiset.core.fit.scorer import Scorer
from certiset.core.fit.size_unit import SizeUnit
from certiset.core.fit.thresholds import next_grid_point, predict_rows
from certiset.core.fit.ties import Threshold


@dataclass(frozen=True)
class MeasuredPool:
    """In the unit of the targets."""

    size: NDArray[np.float64]
    """(rows, members): of the sets as they are served"""
    at_grid: NDArray[np.float64]
    """(rows, members): the same, the last member's threshold rounded up to its grid; infinite beyond it"""

    def mean(self, weights: Sequence[float]) -> float:
        """What is served, on average."""
        return float(self.size.mean(axis=0) @ np.asarray(weights))


@torch.no_grad()
def measure_pool(
    scorer: Scorer,
    theta: Tensor,
    tau: Sequence[float],
    last: Rows,
    before: Rows | None,
    cap: float | None,
    around: float | None = None,
    ties: Sequence[float] = (),
) -> MeasuredPool:
    """For theta (members, d) and thresholds in the unit of the targets, with their other halves if ties are broken.

    ``last`` are the rows of the last block, ``before`` rows that were revealed before it, from which the last member's
    grid is made, most of it near the level ``around``: without them, or without a cap, there is none, and its sizes at
    the grid are infinite.
    """
    unit, columns, upper = SizeUnit.of(scorer), [], None
    for place, parameters in enumerate(theta):
        level = torch.tensor([np.ldexp(tau[place], -scorer.exponent)], dtype=theta.dtype, device=theta.device)
        threshold = Threshold(level, torch.tensor([ties[place]], dtype=torch.float64) if ties else None)
        prediction = predict_rows(scorer, parameters, last)
        columns.append(_host(scorer.size(prediction, threshold, last), unit))
        if place == len(theta) - 1 and before is not None and cap is not None:
            point = next_grid_point(scorer, parameters, before, unit.divide(cap), threshold, around)
            if torch.isfinite(point.tau).all():
                upper = _host(scorer.size(prediction, point, last), unit)
    at_grid = [*columns[:-1], np.full(len(last), np.inf) if upper is None else upper]
    return MeasuredPool(np.stack(columns, axis=1), np.stack(at_grid, axis=1))


def _host(sizes: Tensor, unit: SizeUnit) -> NDArray[np.float64]:
    return np.asarray(np.ldexp(sizes[0].double().cpu().numpy(), unit.exponent))
