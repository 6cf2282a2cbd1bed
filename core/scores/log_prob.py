"""The negative log-probability of a label: the paper's score for classification."""

from typing import ClassVar

import torch
from torch import Tensor

from certiset.core.scores.base import ModelOutputs
from certiset.core.scores.fixed_thresholds import log_probabilities
from certiset.core.scores.labels import LabelScore


class LogProb(LabelScore):
    """-log softmax(f(x))_y."""

    kind: ClassVar[str] = "log_prob"
    keeps_rows_apart: ClassVar[bool] = True

    def of_labels(self, prediction: ModelOutputs) -> Tensor:
        return -torch.log_softmax(prediction.outputs, dim=-1)

    def fixed_thresholds(self, outputs: int, cap: float) -> list[float]:
        return log_probabilities()
