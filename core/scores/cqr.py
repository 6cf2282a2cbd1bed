"""Conformalised quantile regression (Romano, Patterson and Candes, 2019)."""

from typing import ClassVar

import torch
from torch import Tensor

from certiset.core.errors import OptionError
from certiset.core.scores.base import ModelOutputs, Score, broadcast
from certiset.core.scores.fixed_thresholds import within
from certiset.core.scores.rounding import slack, to_float64
from certiset.core.sets import Intervals, PredictionSets
from certiset.core.tasks import Task


class Cqr(Score):
    """max(q_low(x) - y, y - q_high(x)) for a model with two outputs, a lower and an upper quantile.

    tau may be negative: then the interval between the quantiles is narrowed, and may become empty.
    """

    kind: ClassVar[str] = "cqr"
    keeps_rows_apart: ClassVar[bool] = True
    task: ClassVar[Task] = "regression"
    sets: ClassVar[type[PredictionSets]] = Intervals
    is_equivariant: ClassVar[bool] = True

    def check(self, outputs: int, targets: int) -> None:
        if outputs != 2 or targets != 1:
            raise OptionError(
                "score cqr needs a model with two outputs, a lower and an upper quantile, and one target column, "
                f"not {outputs} and {targets}.",
                field="score",
            )

    def of_target(self, prediction: ModelOutputs, y: Tensor) -> Tensor:
        low, high = prediction.outputs.unbind(dim=-1)
        return torch.maximum(low - y.view(1, -1), y.view(1, -1) - high)

    def level_set(self, prediction: ModelOutputs, tau: Tensor) -> list[PredictionSets]:
        lower, upper = (to_float64(end) for end in self._ends(prediction, tau))
        return [Intervals(a, b) for a, b in zip(lower, upper, strict=True)]

    def size(self, prediction: ModelOutputs, tau: Tensor) -> Tensor:
        lower, upper = self._ends(prediction, tau)
        return (upper - lower).clamp(min=0)

    def soft_size(self, prediction: ModelOutputs, tau: Tensor, temperature: float) -> Tensor:
        return self._width(prediction, tau).clamp(min=0)

    def proper_loss(self, prediction: ModelOutputs, y: Tensor, alpha: float) -> Tensor:
        """The pinball loss at alpha/2 and 1 - alpha/2."""
        low, high = prediction.outputs.unbind(dim=-1)
        below, above = y.view(1, -1) - low, y.view(1, -1) - high
        loss = torch.maximum(alpha / 2 * below, (alpha / 2 - 1) * below)
        loss = loss + torch.maximum((1 - alpha / 2) * above, -alpha / 2 * above)
        return loss.mean(dim=1)

    def fixed_thresholds(self, outputs: int, cap: float) -> list[float]:
        """Up to half the cap, beyond which intervals are cut."""
        return within(cap / 2)

    def _ends(self, prediction: ModelOutputs, tau: Tensor) -> tuple[Tensor, Tensor]:
        """The ends that are served."""
        low, high = prediction.outputs.unbind(dim=-1)
        thresholds = broadcast(tau)
        return low - thresholds - slack(low, thresholds), high + thresholds + slack(high, thresholds)

    def _width(self, prediction: ModelOutputs, tau: Tensor) -> Tensor:
        low, high = prediction.outputs.unbind(dim=-1)
        return high - low + 2 * broadcast(tau)
