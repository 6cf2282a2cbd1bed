"""Scores of one real target by its distance from the prediction, plain or divided by a learned scale."""

from dataclasses import dataclass

from torch import Tensor

from core.errors import OptionError
from core.scores.protocol import Prediction, Task, radius
from core.scores.rounding import to_float64, widened
from core.sets import Intervals, PredictionSets


@dataclass(frozen=True)
class Residual:
    """|y - f(x)|; with ``has_scale``, divided by u(x; theta)."""

    kind: str = "residual"
    has_scale: bool = False
    task: Task = "regression"

    def check(self, outputs: int, targets: int) -> None:
        if outputs != 1 or targets != 1:
            raise OptionError(
                f"score {self.kind} needs one output and one target column, not {outputs} and {targets}; "
                "for vectors there are ball, box and scaled_ball."
            )

    def of_target(self, prediction: Prediction, y: Tensor) -> Tensor:
        distance = (prediction.outputs[..., 0] - y.view(1, -1)).abs()
        return distance if prediction.scale is None else distance / prediction.scale

    def level_set(self, prediction: Prediction, tau: Tensor) -> list[PredictionSets]:
        reach = to_float64(widened(prediction.outputs[..., 0], radius(prediction, tau)))
        center = to_float64(prediction.outputs[..., 0])
        return [Intervals(low, high) for low, high in zip(center - reach, center + reach, strict=True)]

    def size(self, prediction: Prediction, tau: Tensor) -> Tensor:
        return 2 * widened(prediction.outputs[..., 0], radius(prediction, tau)).clamp(min=0)

    def soft_size(self, prediction: Prediction, tau: Tensor, temperature: float) -> Tensor:
        return 2 * radius(prediction, tau)

    def proper_loss(self, prediction: Prediction, y: Tensor, alpha: float) -> Tensor:
        """The mean absolute error; with a scale, the negative log-likelihood of a Laplace law with scale c u.

        The best c, which the threshold stands for, is the mean of |y - f| / u, and leaves log c + mean log u (plus 1).
        """
        mean = self.of_target(prediction, y).mean(dim=1)
        return mean if prediction.scale is None else mean.log() + prediction.scale.log().mean(dim=1)


def scaled_residual() -> Residual:
    """The paper's score for regression: |y - f(x)| / u(x; theta)."""
    return Residual(kind="scaled_residual", has_scale=True)
