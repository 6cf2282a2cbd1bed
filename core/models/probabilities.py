"""Probabilities as logits: their logarithms, with a floor under those that are zero."""

import torch
from torch import Tensor

from certiset.core.errors import DataError

FLOOR = 1e-6
"""probabilities below count as this one: a forest says 0 where none of its trees has seen the class"""
_ROUNDING = 1e-3


def logits_of(probabilities: Tensor) -> Tensor:
    """(n, classes); softmax gives the same probabilities back, up to the floor."""
    low, high = torch.aminmax(probabilities) if probabilities.numel() else (torch.zeros(()), torch.zeros(()))
    if not (float(low) >= -_ROUNDING and float(high) <= 1 + _ROUNDING):
        raise DataError(
            "The model's outputs are meant to be probabilities, and some do not lie between 0 and 1: for logits leave "
            "outputs out.",
            field="x",
        )
    return probabilities.clamp(min=FLOOR).log()
