"""What tuning and the posterior step minimise, on random rows and without waiting for the device."""

import math

import torch
from torch import Tensor

from core.fit.data import Rows
from core.fit.options import OptimizerOptions
from core.fit.scorer import Scorer
from core.posterior.optimizing import Loss
from core.posterior.soft_quantile import neural_sort, place_in_batch, smooth_quantile

_NEURAL_SORT_TEMPERATURE = 0.1
_BANDWIDTH_SHARE = 0.01


class BatchSampler:
    """Random rows, with replacement, drawn on the host by a seeded generator so that every device sees the same."""

    def __init__(self, rows: Rows, batch: int, generator: torch.Generator) -> None:
        self.rows, self.generator = rows, generator
        self.batch = min(batch, len(rows))

    def next(self) -> Rows:
        index = torch.randint(len(self.rows), (self.batch,), generator=self.generator)
        return self.rows.take(index.to(self.rows.y.device))


def size_loss(scorer: Scorer, sampler: BatchSampler, levels: list[float], options: OptimizerOptions) -> Loss:
    """The paper's efficiency loss: calibrate softly on the batch, measure the soft size on the same batch.

    One problem a level: theta (G, S, d), levels (G,) to losses (G,).
    """
    device = sampler.rows.y.device
    places = place_in_batch(torch.tensor(levels, device=device), sampler.batch)  # (G,)
    bandwidth = max(0.5, _BANDWIDTH_SHARE * sampler.batch)

    def loss(theta: Tensor) -> Tensor:
        groups, draws, size = theta.shape
        batch = sampler.next()
        prediction = scorer.predict(theta.reshape(groups * draws, size), batch)
        scores = scorer.score.of_target(prediction, batch.y)
        place = places.repeat_interleave(draws)
        if options.quantile == "smooth":
            tau = smooth_quantile(scores, place, bandwidth)
        else:
            tau = neural_sort(scores, place, _NEURAL_SORT_TEMPERATURE)
        sizes = scorer.score.soft_size(prediction, tau, options.temperature)
        if options.measure == "log_radius":
            sizes = (0.5 * sizes).clamp(min=math.exp(-30)).log()
        return sizes.mean(dim=1).view(groups, draws).mean(dim=1)

    return loss


def proper_loss(scorer: Scorer, sampler: BatchSampler, alpha: float) -> Loss:
    """A proper score of the prediction itself; needs no threshold."""

    def loss(theta: Tensor) -> Tensor:
        groups, draws, size = theta.shape
        batch = sampler.next()
        prediction = scorer.predict(theta.reshape(groups * draws, size), batch)
        return scorer.score.proper_loss(prediction, batch.y, alpha).view(groups, draws).mean(dim=1)

    return loss
