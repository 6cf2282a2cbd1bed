"""One minus the probability of a label (Sadinle, Lei and Wasserman, 2019)."""

from typing import ClassVar

import torch
from torch import Tensor

from certiset.core.scores.base import ModelOutputs
from certiset.core.scores.fixed_thresholds import totals
from certiset.core.scores.labels import LabelScore


class Lac(LabelScore):
    """1 - softmax(f(x))_y."""

    kind: ClassVar[str] = "lac"
    keeps_rows_apart: ClassVar[bool] = True

    def of_labels(self, prediction: ModelOutputs) -> Tensor:
        return 1 - torch.softmax(prediction.outputs, dim=-1)

    def fixed_thresholds(self, outputs: int, cap: float) -> list[float]:
        return totals()
