"""The distance from the prediction, in a plane that is stretched along its second axis."""

from typing import ClassVar

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from certiset.core.errors import OptionError
from certiset.core.scores.base import ModelOutputs, Score, radius
from certiset.core.scores.rounding import to_float64, widened
from certiset.core.sets import PredictionSets
from certiset.core.tasks import Task
from ellipse_kinds.sets import Ellipses


class EllipseScore(Score):
    """|(y_1 - f_1, (y_2 - f_2) / stretch)|_2."""

    kind: ClassVar[str] = "ellipse"
    task: ClassVar[Task] = "regression"
    sets: ClassVar[type[PredictionSets]] = Ellipses

    stretch: float = Field(2.0, gt=0, description="how much longer the second axis is")

    def check(self, outputs: int, targets: int) -> None:
        if (outputs, targets) != (2, 2):
            raise OptionError("score ellipse needs two outputs and two targets.", field="score")

    def of_target(self, prediction: ModelOutputs, y: Tensor) -> Tensor:
        return torch.linalg.vector_norm((prediction.outputs - y.unsqueeze(0)) / self._axes(prediction), dim=-1)

    def level_set(self, prediction: ModelOutputs, tau: Tensor) -> list[PredictionSets]:
        reach = self._reach(prediction, tau).unsqueeze(-1) * self._axes(prediction)
        center = prediction.outputs.expand(reach.shape[0], -1, -1)
        return [Ellipses(c, r) for c, r in zip(to_float64(center), to_float64(reach), strict=True)]

    def size(self, prediction: ModelOutputs, tau: Tensor) -> Tensor:
        return np.pi * self.stretch * self._reach(prediction, tau).clamp(min=0) ** 2

    def soft_size(self, prediction: ModelOutputs, tau: Tensor, temperature: float) -> Tensor:
        return self.size(prediction, tau)

    def proper_loss(self, prediction: ModelOutputs, y: Tensor, alpha: float) -> Tensor:
        return self.of_target(prediction, y).mean(dim=1)

    def _axes(self, prediction: ModelOutputs) -> Tensor:
        return torch.tensor([1.0, self.stretch]).to(prediction.outputs)

    def _reach(self, prediction: ModelOutputs, tau: Tensor) -> Tensor:
        return widened(prediction.outputs.abs().sum(dim=-1), radius(prediction, tau))
