"""The score of a vector target by its Euclidean distance from the prediction."""

from typing import ClassVar

import torch
from torch import Tensor

from certiset.core.scores.base import ModelOutputs, Score, check_vector_targets, radius
from certiset.core.scores.rounding import to_float64, widened
from certiset.core.sets import Balls, PredictionSets
from certiset.core.sets.balls import unit_ball_volume
from certiset.core.tasks import Task


class Ball(Score):
    """|y - f(x)|_2."""

    kind: ClassVar[str] = "ball"
    task: ClassVar[Task] = "regression"
    sets: ClassVar[type[PredictionSets]] = Balls

    def check(self, outputs: int, targets: int) -> None:
        check_vector_targets(self.kind, outputs, targets)

    def of_target(self, prediction: ModelOutputs, y: Tensor) -> Tensor:
        distance = torch.linalg.vector_norm(prediction.outputs - y.unsqueeze(0), dim=-1)
        return distance if prediction.scale is None else distance / prediction.scale

    def level_set(self, prediction: ModelOutputs, tau: Tensor) -> list[PredictionSets]:
        reach = to_float64(self._served_radius(prediction, tau))
        center = to_float64(prediction.outputs.expand(reach.shape[0], -1, -1))
        return [Balls(c, r) for c, r in zip(center, reach, strict=True)]

    def size(self, prediction: ModelOutputs, tau: Tensor) -> Tensor:
        dimensions = prediction.outputs.shape[-1]
        return unit_ball_volume(dimensions) * self._served_radius(prediction, tau).clamp(min=0) ** dimensions

    def soft_size(self, prediction: ModelOutputs, tau: Tensor, temperature: float) -> Tensor:
        return self.size(prediction, tau)

    def proper_loss(self, prediction: ModelOutputs, y: Tensor, alpha: float) -> Tensor:
        """The mean distance."""
        return self.of_target(prediction, y).mean(dim=1)

    def _served_radius(self, prediction: ModelOutputs, tau: Tensor) -> Tensor:
        return widened(prediction.outputs.abs().sum(dim=-1), radius(prediction, tau))
