"""Adaptive prediction sets (Romano, Sesia and Candes, 2020)."""

from typing import ClassVar

import torch
from torch import Tensor

from certiset.core.scores.base import ModelOutputs
from certiset.core.scores.fixed_thresholds import totals
from certiset.core.scores.labels import LabelScore


class Aps(LabelScore):
    """The total probability of the labels that are at least as likely as y, y included.

    Without the uniform random number of the original, so that a set can be recomputed from its input and member.
    """

    kind: ClassVar[str] = "aps"
    keeps_rows_apart: ClassVar[bool] = True

    def of_labels(self, prediction: ModelOutputs) -> Tensor:
        found, _places = totals_and_places(prediction.outputs)
        return found

    def fixed_thresholds(self, outputs: int, cap: float) -> list[float]:
        return totals()


def totals_and_places(logits: Tensor) -> tuple[Tensor, Tensor]:
    """For every label: the probability of all labels up to its place in the order of likelihood, and that place."""
    probabilities = torch.softmax(logits, dim=-1)
    ordered, order = probabilities.sort(dim=-1, descending=True, stable=True)
    places = order.argsort(dim=-1)
    totals = ordered.cumsum(dim=-1).gather(-1, places)
    return totals, (places + 1).to(logits.dtype)
