"""The score of one real target by its distance from the prediction."""

from typing import ClassVar

from torch import Tensor

from certiset.core.errors import OptionError
from certiset.core.scores.base import ModelOutputs, Score, radius
from certiset.core.scores.rounding import to_float64, widened
from certiset.core.sets import Intervals, PredictionSets
from certiset.core.tasks import Task


class Residual(Score):
    """|y - f(x)|."""

    kind: ClassVar[str] = "residual"
    keeps_rows_apart: ClassVar[bool] = True
    task: ClassVar[Task] = "regression"
    sets: ClassVar[type[PredictionSets]] = Intervals
    is_equivariant: ClassVar[bool] = True

    def check(self, outputs: int, targets: int) -> None:
        if outputs != 1 or targets != 1:
            raise OptionError(
                f"score {self.kind} needs one output and one target column, not {outputs} and {targets}; "
                "for vectors there are ball, box and scaled_ball.",
                field="score",
            )

    def of_target(self, prediction: ModelOutputs, y: Tensor) -> Tensor:
        distance = (prediction.outputs[..., 0] - y.view(1, -1)).abs()
        return distance if prediction.scale is None else distance / prediction.scale

    def level_set(self, prediction: ModelOutputs, tau: Tensor) -> list[PredictionSets]:
        reach = to_float64(widened(prediction.outputs[..., 0], radius(prediction, tau)))
        center = to_float64(prediction.outputs[..., 0])
        return [Intervals(low, high) for low, high in zip(center - reach, center + reach, strict=True)]

    def size(self, prediction: ModelOutputs, tau: Tensor) -> Tensor:
        return 2 * widened(prediction.outputs[..., 0], radius(prediction, tau)).clamp(min=0)

    def soft_size(self, prediction: ModelOutputs, tau: Tensor, temperature: float) -> Tensor:
        return 2 * radius(prediction, tau)

    def proper_loss(self, prediction: ModelOutputs, y: Tensor, alpha: float) -> Tensor:
        """The mean absolute error."""
        return self.of_target(prediction, y).mean(dim=1)
