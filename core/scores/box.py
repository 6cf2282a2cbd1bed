"""The score of a vector target by its largest deviation."""

from dataclasses import dataclass

from torch import Tensor

from core.errors import OptionError
from core.scores.protocol import Prediction, Task, check_dimensions, radius
from core.scores.rounding import to_float64, widened
from core.sets import Boxes, PredictionSets


@dataclass(frozen=True)
class Box:
    """max_j |y_j - f_j(x)|: level sets are cubes."""

    kind: str = "box"
    has_scale: bool = False
    task: Task = "regression"

    def check(self, outputs: int, targets: int) -> None:
        if outputs != targets:
            raise OptionError(f"score box needs as many outputs as targets, not {outputs} and {targets}.")
        check_dimensions(targets)

    def of_target(self, prediction: Prediction, y: Tensor) -> Tensor:
        return (prediction.outputs - y.unsqueeze(0)).abs().amax(dim=-1)

    def level_set(self, prediction: Prediction, tau: Tensor) -> list[PredictionSets]:
        reach = to_float64(self._served_radii(prediction, tau))
        center = to_float64(prediction.outputs)
        return [Boxes(a, b) for a, b in zip(center - reach, center + reach, strict=True)]

    def size(self, prediction: Prediction, tau: Tensor) -> Tensor:
        return (2 * self._served_radii(prediction, tau).clamp(min=0)).prod(dim=-1)

    def soft_size(self, prediction: Prediction, tau: Tensor, temperature: float) -> Tensor:
        return self.size(prediction, tau)

    def proper_loss(self, prediction: Prediction, y: Tensor, alpha: float) -> Tensor:
        """The mean absolute deviation over all dimensions."""
        return (prediction.outputs - y.unsqueeze(0)).abs().mean(dim=(1, 2))

    def _served_radii(self, prediction: Prediction, tau: Tensor) -> Tensor:
        """(D, n, targets)."""
        return widened(prediction.outputs, radius(prediction, tau).unsqueeze(-1))
