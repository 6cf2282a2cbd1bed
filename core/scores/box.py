"""The score of a vector target by its largest deviation."""

from typing import ClassVar

from torch import Tensor

from certiset.core.scores.base import ModelOutputs, Score, check_vector_targets, radius
from certiset.core.scores.rounding import to_float64, wide, widened
from certiset.core.sets import Boxes, PredictionSets
from certiset.core.tasks import Task


class Box(Score):
    """max_j |y_j - f_j(x)|: level sets are cubes."""

    kind: ClassVar[str] = "box"
    keeps_rows_apart: ClassVar[bool] = True
    task: ClassVar[Task] = "regression"
    sets: ClassVar[type[PredictionSets]] = Boxes
    is_equivariant: ClassVar[bool] = True

    def check(self, outputs: int, targets: int) -> None:
        check_vector_targets(self.kind, outputs, targets)

    def of_target(self, prediction: ModelOutputs, y: Tensor) -> Tensor:
        return (prediction.outputs - y.unsqueeze(0)).abs().amax(dim=-1)

    def level_set(self, prediction: ModelOutputs, tau: Tensor) -> list[PredictionSets]:
        reach = to_float64(self._served_radii(prediction, tau))
        center = to_float64(prediction.outputs)
        return [Boxes(a, b) for a, b in zip(center - reach, center + reach, strict=True)]

    def size(self, prediction: ModelOutputs, tau: Tensor) -> Tensor:
        return (2 * wide(self._served_radii(prediction, tau)).clamp(min=0)).prod(dim=-1)

    def soft_size(self, prediction: ModelOutputs, tau: Tensor, temperature: float) -> Tensor:
        return (2 * self._served_radii(prediction, tau).clamp(min=0)).prod(dim=-1)

    def proper_loss(self, prediction: ModelOutputs, y: Tensor, alpha: float) -> Tensor:
        """The mean absolute deviation over all dimensions."""
        return (prediction.outputs - y.unsqueeze(0)).abs().mean(dim=(1, 2))

    def _served_radii(self, prediction: ModelOutputs, tau: Tensor) -> Tensor:
        """(D, n, targets)."""
        return widened(prediction.outputs, radius(prediction, tau).unsqueeze(-1))
