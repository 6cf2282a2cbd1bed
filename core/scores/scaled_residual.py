"""The paper's score for regression: the distance from the prediction, divided by a learned scale."""

from typing import ClassVar

from torch import Tensor

from certiset.core.scores.base import ModelOutputs, Score
from certiset.core.scores.residual import Residual


class ScaledResidual(Residual):
    """|y - f(x)| / u(x; theta)."""

    kind: ClassVar[str] = "scaled_residual"
    has_scale: ClassVar[bool] = True

    def without_scale(self) -> Score:
        return Residual()

    def proper_loss(self, prediction: ModelOutputs, y: Tensor, alpha: float) -> Tensor:
        """The negative log-likelihood of a Laplace law with scale c u.

        The best c, which the threshold stands for, is the mean of |y - f| / u, and leaves log c + mean log u (plus 1).
        """
        mean = super().proper_loss(prediction, y, alpha)
        return mean if prediction.scale is None else mean.log() + prediction.scale.log().mean(dim=1)
