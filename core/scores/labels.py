"""What the classification scores share: a score for every label, and sets of those labels whose score is small."""

from abc import abstractmethod
from typing import ClassVar

import torch
from torch import Tensor

from certiset.core.errors import OptionError
from certiset.core.scores.base import ModelOutputs, Score, broadcast
from certiset.core.sets import LabelSets, PredictionSets
from certiset.core.tasks import Task

_PLACES = 32.0
_SINGLE = (1,)


class LabelScore(Score):
    """A score given by a number for each label, (D, n, classes)."""

    task: ClassVar[Task] = "classification"
    sets: ClassVar[type[PredictionSets]] = LabelSets

    @abstractmethod
    def of_labels(self, prediction: ModelOutputs) -> Tensor:
        """(D, n, classes): the score of every label."""

    def check(self, outputs: int, targets: int) -> None:
        if outputs < 2 or targets != 1:
            raise OptionError(
                f"score {self.kind} needs two classes or more and one label per row, "
                f"not {outputs} outputs and {targets} target columns.",
                field="score",
            )

    def of_target(self, prediction: ModelOutputs, y: Tensor) -> Tensor:
        scores = self.of_labels(prediction)
        index = y.view(1, -1, 1).expand(scores.shape[0], -1, 1)
        return scores.gather(2, index).squeeze(2)

    def level_set(self, prediction: ModelOutputs, tau: Tensor) -> list[PredictionSets]:
        # A single threshold fits scores of any shape as it is, and single sets are asked for often.
        masks = self.of_labels(prediction) <= (tau if tau.shape == _SINGLE else broadcast(tau).unsqueeze(-1))
        return [LabelSets(mask) for mask in masks.cpu().numpy()]

    def size(self, prediction: ModelOutputs, tau: Tensor) -> Tensor:
        scores = self.of_labels(prediction)
        return (scores <= broadcast(tau).unsqueeze(-1)).sum(dim=-1).to(scores.dtype)

    def soft_size(self, prediction: ModelOutputs, tau: Tensor, temperature: float) -> Tensor:
        scores = self.of_labels(prediction)
        return torch.sigmoid((broadcast(tau).unsqueeze(-1) - scores) / temperature).sum(dim=-1)

    def proper_loss(self, prediction: ModelOutputs, y: Tensor, alpha: float) -> Tensor:
        """Cross-entropy, whatever the score: all of them are functions of the class probabilities."""
        logs = torch.log_softmax(prediction.outputs, dim=-1)
        index = y.view(1, -1, 1).expand(logs.shape[0], -1, 1)
        return -logs.gather(2, index).squeeze(2).mean(dim=1)

    def rounding(self, prediction: ModelOutputs, tau: Tensor) -> Tensor:
        """In units of the outputs too: if scores tie, many inputs sit exactly at tau and would fall out together."""
        return _PLACES * torch.finfo(tau.dtype).eps * (1 + tau.abs() + prediction.outputs.abs().max())
