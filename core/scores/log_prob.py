"""The negative log-probability of a label: the paper's score for classification."""

from dataclasses import dataclass

import torch
from torch import Tensor

from core.scores.labels import LabelScore
from core.scores.protocol import Prediction


@dataclass(frozen=True)
class LogProb(LabelScore):
    """-log softmax(f(x))_y."""

    kind: str = "log_prob"

    def of_labels(self, prediction: Prediction) -> Tensor:
        return -torch.log_softmax(prediction.outputs, dim=-1)
