"""What tuning and the posterior step minimise, on random rows and without waiting for the device."""

import math
from dataclasses import replace

import torch
from torch import Tensor

from certiset.core.fit.optimizer_options import OptimizerOptions
from certiset.core.fit.options import FitOptions
from certiset.core.fit.rows import Rows
from certiset.core.fit.scorer import Scorer
from certiset.core.posterior.optimizer import Loss
from certiset.core.posterior.soft_quantile import neural_sort, place_in_batch, smooth_quantile
from certiset.core.scores import ModelOutputs

_NEURAL_SORT_TEMPERATURE = 0.1
_BANDWIDTH_SHARE = 0.01


class BatchSampler:
    """Random rows, with replacement, by a seeded generator that lives where the rows do.

    With dropout, each row goes without a random share of its features, and the others make up for it.
    """

    def __init__(self, rows: Rows, batch: int, generator: torch.Generator, dropout: float = 0.0) -> None:
        self.rows, self.generator, self.dropout = rows, generator, dropout
        self.batch = min(batch, len(rows))

    def next(self) -> Rows:
        generator = self.generator
        place = generator.device
        rows = self.rows.take(torch.randint(len(self.rows), (self.batch,), generator=generator, device=place))
        if not self.dropout:
            return rows
        kept = torch.rand(rows.features.shape, generator=generator, device=place) >= self.dropout
        return replace(rows, features=rows.features * kept / (1 - self.dropout))


def size_loss(scorer: Scorer, sampler: BatchSampler, levels: list[float], options: OptimizerOptions) -> Loss:
    """The paper's efficiency loss, one problem per level: theta (G, S, d) to losses (G,)."""
    places = place_in_batch(torch.tensor(levels, device=sampler.rows.y.device), sampler.batch)  # (G,)

    def loss(theta: Tensor) -> Tensor:
        groups, draws, size = theta.shape
        batch = sampler.next()
        prediction = scorer.predict(theta.reshape(groups * draws, size), batch)
        sizes = soft_size(scorer, prediction, batch, places.repeat_interleave(draws), options)
        return sizes.view(groups, draws).mean(dim=1)

    return loss


def tuning_loss(scorer: Scorer, sampler: BatchSampler, objectives: list[str], options: FitOptions) -> Loss:
    """theta (T, d) to losses (T,): each row of theta by its own objective (proper, size or mix), on one batch."""
    place = place_in_batch(torch.tensor([options.level], device=sampler.rows.y.device), sampler.batch)

    def loss(theta: Tensor) -> Tensor:
        batch = sampler.next()
        prediction = scorer.predict(theta, batch)
        values = []
        for row, objective in enumerate(objectives):
            one = _row(prediction, row)
            parts = []
            if objective in ("proper", "mix"):
                parts.append(scorer.score.proper_loss(one, batch.y, options.level))
            if objective in ("size", "mix"):
                parts.append(soft_size(scorer, one, batch, place, options.optimizer))
            values.append(torch.stack(parts).mean(dim=0))
        return torch.cat(values)

    return loss


def soft_size(
    scorer: Scorer, prediction: ModelOutputs, batch: Rows, place: Tensor, options: OptimizerOptions
) -> Tensor:
    """(D,): calibrate softly on the batch, and measure the soft size on the same batch."""
    scores = scorer.score.of_target(prediction, batch.y)
    if options.quantile == "smooth":
        tau = smooth_quantile(scores, place, max(0.5, _BANDWIDTH_SHARE * len(batch)))
    else:
        tau = neural_sort(scores, place, _NEURAL_SORT_TEMPERATURE)
    sizes = scorer.score.soft_size(prediction, tau, options.temperature)
    if options.measure == "log_radius":
        sizes = (0.5 * sizes).clamp(min=math.exp(-30)).log()
    return sizes.mean(dim=1)


def _row(prediction: ModelOutputs, row: int) -> ModelOutputs:
    """One draw's part; outputs that all draws share stay whole."""
    outputs = prediction.outputs if prediction.outputs.shape[0] == 1 else prediction.outputs[row : row + 1]
    return ModelOutputs(outputs, None if prediction.scale is None else prediction.scale[row : row + 1])
