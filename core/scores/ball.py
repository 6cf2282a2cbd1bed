"""Scores of a vector target by its Euclidean distance, plain or divided by a learned scale."""

from dataclasses import dataclass

import torch
from torch import Tensor

from core.errors import OptionError
from core.scores.protocol import Prediction, Task, check_dimensions, radius
from core.scores.rounding import to_float64, widened
from core.sets import Balls, PredictionSets
from core.sets.balls import unit_ball_volume


@dataclass(frozen=True)
class Ball:
    """|y - f(x)|_2; with ``has_scale``, divided by u(x; theta)."""

    kind: str = "ball"
    has_scale: bool = False
    task: Task = "regression"

    def check(self, outputs: int, targets: int) -> None:
        if outputs != targets:
            raise OptionError(f"score {self.kind} needs as many outputs as targets, not {outputs} and {targets}.")
        check_dimensions(targets)

    def of_target(self, prediction: Prediction, y: Tensor) -> Tensor:
        distance = torch.linalg.vector_norm(prediction.outputs - y.unsqueeze(0), dim=-1)
        return distance if prediction.scale is None else distance / prediction.scale

    def level_set(self, prediction: Prediction, tau: Tensor) -> list[PredictionSets]:
        reach = to_float64(self._served_radius(prediction, tau))
        center = to_float64(prediction.outputs.expand(reach.shape[0], -1, -1))
        return [Balls(c, r) for c, r in zip(center, reach, strict=True)]

    def size(self, prediction: Prediction, tau: Tensor) -> Tensor:
        dimensions = prediction.outputs.shape[-1]
        return unit_ball_volume(dimensions) * self._served_radius(prediction, tau).clamp(min=0) ** dimensions

    def soft_size(self, prediction: Prediction, tau: Tensor, temperature: float) -> Tensor:
        return self.size(prediction, tau)

    def proper_loss(self, prediction: Prediction, y: Tensor, alpha: float) -> Tensor:
        """The mean distance; with a scale, the negative log-likelihood of exp(-|y - f| / c u) / (c u)^d, a dimension.

        As for one dimension (`core.scores.residual`), the best c is left to the threshold.
        """
        mean = self.of_target(prediction, y).mean(dim=1)
        return mean if prediction.scale is None else mean.log() + prediction.scale.log().mean(dim=1)

    def _served_radius(self, prediction: Prediction, tau: Tensor) -> Tensor:
        return widened(prediction.outputs.abs().sum(dim=-1), radius(prediction, tau))


def scaled_ball() -> Ball:
    return Ball(kind="scaled_ball", has_scale=True)
