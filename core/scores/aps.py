"""Adaptive prediction sets (Romano, Sesia and Candes, 2020) and their regularised form (Angelopoulos et al., 2021)."""

from dataclasses import dataclass

import torch
from torch import Tensor

from core.errors import OptionError
from core.scores.labels import LabelScore
from core.scores.protocol import Prediction


@dataclass(frozen=True)
class Aps(LabelScore):
    """The total probability of the labels that are at least as likely as y, y included.

    Without the uniform random number of the original, so that a set can be recomputed from its input and member.
    """

    kind: str = "aps"

    def of_labels(self, prediction: Prediction) -> Tensor:
        totals, _places = _totals_and_places(prediction.outputs)
        return totals


@dataclass(frozen=True)
class Raps(LabelScore):
    """`Aps` plus a penalty on labels beyond the first few, which shortens the tail of the set sizes."""

    penalty: float = 0.01
    """added for each place beyond ``free``"""
    free: int = 2
    """how many of the likeliest labels go without penalty"""
    kind: str = "raps"

    def __post_init__(self) -> None:
        for name in ("penalty", "free"):
            value = getattr(self, name)
            if not isinstance(value, int | float) or not 0 <= value < float("inf"):
                raise OptionError(f"score raps needs a finite {name} of at least 0, not {value!r}.")

    def of_labels(self, prediction: Prediction) -> Tensor:
        totals, places = _totals_and_places(prediction.outputs)
        return totals + self.penalty * (places - self.free).clamp(min=0)


def _totals_and_places(logits: Tensor) -> tuple[Tensor, Tensor]:
    """For every label: the probability of all labels up to its place in the order of likelihood, and that place."""
    probabilities = torch.softmax(logits, dim=-1)
    ordered, order = probabilities.sort(dim=-1, descending=True, stable=True)
    places = order.argsort(dim=-1)
    totals = ordered.cumsum(dim=-1).gather(-1, places)
    return totals, (places + 1).to(logits.dtype)
