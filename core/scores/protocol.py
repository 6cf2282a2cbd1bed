"""What every nonconformity score can do, for many draws of its parameters at once."""

from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from torch import Tensor

from core.errors import OptionError
from core.sets import PredictionSets

Task: TypeAlias = Literal["classification", "regression"]


@dataclass(frozen=True)
class Prediction:
    """What the model says about n inputs under each of D draws of the parameters."""

    outputs: Tensor
    """(D, n, outputs): logits, values or quantiles; D = 1 where the draws share them"""
    scale: Tensor | None = None
    """(D, n): the learned scale u(x; theta) > 0, for the scores that have one"""


class Score(Protocol):
    """s(x, y; theta): how badly y fits what the model says about x. Larger is worse.

    Law: the level set {y : score <= tau} is what `level_set` returns, and its size does not decrease in tau.
    Thresholds ``tau`` are (D,), one a draw, or (D, n), one a draw and a row.
    """

    @property
    def kind(self) -> str:
        """the name that users choose it by"""
        ...

    @property
    def task(self) -> Task: ...

    @property
    def has_scale(self) -> bool:
        """whether it divides by a learned scale u(x; theta)"""
        ...

    def check(self, outputs: int, targets: int) -> None:
        """Raises an `OptionError` if the score does not go with that many outputs and target columns."""
        ...

    def of_target(self, prediction: Prediction, y: Tensor) -> Tensor:
        """(D, n): the score of each row's own target; y is (n,) labels or (n, targets)."""
        ...

    def level_set(self, prediction: Prediction, tau: Tensor) -> list[PredictionSets]:
        """The sets {y : score <= tau}, a batch for each draw."""
        ...

    def size(self, prediction: Prediction, tau: Tensor) -> Tensor:
        """(D, n): the measure of each level set."""
        ...

    def soft_size(self, prediction: Prediction, tau: Tensor, temperature: float) -> Tensor:
        """(D, n): a differentiable stand-in for the size, its limit as the temperature falls to 0."""
        ...

    def proper_loss(self, prediction: Prediction, y: Tensor, alpha: float) -> Tensor:
        """(D,): a proper scoring rule for what the score estimates; what a prior may be tuned by."""
        ...


def broadcast(tau: Tensor) -> Tensor:
    """(D,) or (D, n) as (D, 1) or (D, n)."""
    return tau.unsqueeze(-1) if tau.dim() == 1 else tau


def radius(prediction: Prediction, tau: Tensor) -> Tensor:
    """(D, n): the threshold as a distance from the prediction, tau u(x) where there is a scale."""
    thresholds = broadcast(tau)
    if prediction.scale is not None:
        return thresholds * prediction.scale
    return thresholds.expand(thresholds.shape[0], prediction.outputs.shape[1])


def check_dimensions(targets: int) -> None:
    if targets > _MOST_DIMENSIONS:
        raise OptionError(
            f"volumes in {targets} dimensions do not fit into floats: at most {_MOST_DIMENSIONS} will do."
        )


_MOST_DIMENSIONS = 32
