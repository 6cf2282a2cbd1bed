"""What the classification scores share: a score for every label, and sets of those labels whose score is small."""

from abc import ABC, abstractmethod

import torch
from torch import Tensor

from core.errors import OptionError
from core.scores.protocol import Prediction, Task, broadcast
from core.sets import LabelSets, PredictionSets


class LabelScore(ABC):
    """A score given by a number for each label, (D, n, classes)."""

    task: Task = "classification"
    has_scale = False

    @abstractmethod
    def of_labels(self, prediction: Prediction) -> Tensor:
        """(D, n, classes): the score of every label."""

    def check(self, outputs: int, targets: int) -> None:
        if outputs < 2 or targets != 1:
            raise OptionError(
                f"score {self.kind} needs two classes or more and one label a row, "  # type: ignore[attr-defined]
                f"not {outputs} outputs and {targets} target columns."
            )

    def of_target(self, prediction: Prediction, y: Tensor) -> Tensor:
        scores = self.of_labels(prediction)
        index = y.view(1, -1, 1).expand(scores.shape[0], -1, 1)
        return scores.gather(2, index).squeeze(2)

    def level_set(self, prediction: Prediction, tau: Tensor) -> list[PredictionSets]:
        masks = self.of_labels(prediction) <= broadcast(tau).unsqueeze(-1)
        return [LabelSets(mask.cpu().numpy()) for mask in masks]

    def size(self, prediction: Prediction, tau: Tensor) -> Tensor:
        scores = self.of_labels(prediction)
        return (scores <= broadcast(tau).unsqueeze(-1)).sum(dim=-1).to(scores.dtype)

    def soft_size(self, prediction: Prediction, tau: Tensor, temperature: float) -> Tensor:
        scores = self.of_labels(prediction)
        return torch.sigmoid((broadcast(tau).unsqueeze(-1) - scores) / temperature).sum(dim=-1)

    def proper_loss(self, prediction: Prediction, y: Tensor, alpha: float) -> Tensor:
        """Cross-entropy, whatever the score: all of them are functions of the class probabilities."""
        logs = torch.log_softmax(prediction.outputs, dim=-1)
        index = y.view(1, -1, 1).expand(logs.shape[0], -1, 1)
        return -logs.gather(2, index).squeeze(2).mean(dim=1)
