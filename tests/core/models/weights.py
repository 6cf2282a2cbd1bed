"""Weights of heads, the same every time."""

import itertools

import torch
from torch import Tensor


def head_weights(*widths: int) -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(0)
    weights = {}
    for layer, (inputs, outputs) in enumerate(itertools.pairwise(widths)):
        weights[f"head.{layer}.weight"] = torch.randn(outputs, inputs, generator=generator)
        weights[f"head.{layer}.bias"] = torch.randn(outputs, generator=generator)
    return weights
