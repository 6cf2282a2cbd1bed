"""One minus the probability of a label (Sadinle, Lei and Wasserman, 2019)."""

from dataclasses import dataclass

import torch
from torch import Tensor

from core.scores.labels import LabelScore
from core.scores.protocol import Prediction


@dataclass(frozen=True)
class Lac(LabelScore):
    """1 - softmax(f(x))_y."""

    kind: str = "lac"

    def of_labels(self, prediction: Prediction) -> Tensor:
        return 1 - torch.softmax(prediction.outputs, dim=-1)
