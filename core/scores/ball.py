"""The score of a vector target by its Euclidean distance from the prediction."""

from typing import ClassVar

import torch
from torch import Tensor

from certiset.core.scores.base import ModelOutputs, Score, check_vector_targets, radius
from certiset.core.scores.rounding import to_float64, wide, widened
from certiset.core.sets import Balls, PredictionSets
from certiset.core.sets.balls import unit_ball_volume
from certiset.core.tasks import Task


class Ball(Score):
    """|y - f(x)|_2."""

    kind: ClassVar[str] = "ball"
    keeps_rows_apart: ClassVar[bool] = True
    task: ClassVar[Task] = "regression"
    sets: ClassVar[type[PredictionSets]] = Balls
    is_equivariant: ClassVar[bool] = True

    def check(self, outputs: int, targets: int) -> None:
        check_vector_targets(self.kind, outputs, targets)

    def of_target(self, prediction: ModelOutputs, y: Tensor) -> Tensor:
        distance = euclidean_norm(prediction.outputs - y.unsqueeze(0))
        return distance if prediction.scale is None else distance / prediction.scale

    def level_set(self, prediction: ModelOutputs, tau: Tensor) -> list[PredictionSets]:
        reach = to_float64(self._served_radius(prediction, tau))
        center = to_float64(prediction.outputs.expand(reach.shape[0], -1, -1))
        return [Balls(c, r) for c, r in zip(center, reach, strict=True)]

    def size(self, prediction: ModelOutputs, tau: Tensor) -> Tensor:
        return _volume(wide(self._served_radius(prediction, tau)), prediction.outputs.shape[-1])

    def soft_size(self, prediction: ModelOutputs, tau: Tensor, temperature: float) -> Tensor:
        return _volume(self._served_radius(prediction, tau), prediction.outputs.shape[-1])

    def proper_loss(self, prediction: ModelOutputs, y: Tensor, alpha: float) -> Tensor:
        """The mean distance."""
        return self.of_target(prediction, y).mean(dim=1)

    def _served_radius(self, prediction: ModelOutputs, tau: Tensor) -> Tensor:
        return widened(prediction.outputs.abs().sum(dim=-1), radius(prediction, tau))


def euclidean_norm(vectors: Tensor) -> Tensor:
    """Over the last dimension, by squares of numbers near 1: those of very small or large ones are no floats."""
    largest = vectors.detach().abs().amax(dim=-1, keepdim=True)
    unit = largest.clamp(2.0**-_FARTHEST, 2.0**_FARTHEST).log2().floor().exp2()
    return torch.linalg.vector_norm(vectors / unit, dim=-1) * unit.squeeze(-1)


_FARTHEST = 100


def _volume(radius: Tensor, dimensions: int) -> Tensor:
    return unit_ball_volume(dimensions) * radius.clamp(min=0) ** dimensions
