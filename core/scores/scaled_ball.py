"""The score of a vector target by its Euclidean distance from the prediction, divided by a learned scale."""

from typing import ClassVar

from torch import Tensor

from certiset.core.scores.ball import Ball
from certiset.core.scores.base import ModelOutputs, Score


class ScaledBall(Ball):
    """|y - f(x)|_2 / u(x; theta)."""

    kind: ClassVar[str] = "scaled_ball"
    has_scale: ClassVar[bool] = True

    def without_scale(self) -> Score:
        return Ball()

    def proper_loss(self, prediction: ModelOutputs, y: Tensor, alpha: float) -> Tensor:
        """The negative log-likelihood of exp(-|y - f| / c u) / (c u)^d, per dimension.

        As in one dimension (`scaled_residual`), the best c is left to the threshold.
        """
        mean = super().proper_loss(prediction, y, alpha)
        return mean if prediction.scale is None else mean.log() + prediction.scale.log().mean(dim=1)
