r"""Differentiable order statistics.

The threshold is the p-th smallest of J scores. Two relaxations of it:

- `neural_sort` (Grover et al., 2019), as in the paper: a softmax over all scores for the p-th place, O(J²) memory;
- `smooth_quantile`: a Gaussian-weighted mean of the sorted scores around the p-th, O(J log J). As the bandwidth falls
  to 0 it is the p-th smallest score exactly, and its gradient is that score's.
"""

import torch
from torch import Tensor

_HARD_BANDWIDTH = 1e-3


def place_in_batch(levels: Tensor, batch: int) -> Tensor:
    """p = J + 1 - k with k = floor((J+1) alpha_hat), kept within 1..J: the place of tau in a batch of J."""
    rank = torch.floor((batch + 1) * levels * (1 + 1e-6))
    return (batch + 1 - rank).clamp(1, batch)


def smooth_quantile(scores: Tensor, place: Tensor, bandwidth: float) -> Tensor:
    """(..., ) for scores (..., J) and places that broadcast against (...,): the smoothed place-th smallest score."""
    ordered = scores.sort(dim=-1).values
    places = torch.arange(1, scores.shape[-1] + 1, device=scores.device, dtype=scores.dtype)
    distance = (places - place.unsqueeze(-1).to(scores.dtype)) / max(bandwidth, _HARD_BANDWIDTH)
    weights = torch.softmax(-0.5 * distance.square(), dim=-1)
    return (weights * ordered).sum(dim=-1)


def neural_sort(scores: Tensor, place: Tensor, temperature: float) -> Tensor:
    """(..., ) for scores (..., J): NeuralSort's softmax for the place-th smallest, scores standardised row by row."""
    spread = scores.detach().std(dim=-1, keepdim=True).clamp(min=1e-12)
    standard = scores / spread
    batch = scores.shape[-1]
    from_top = batch + 1 - place.unsqueeze(-1).to(scores.dtype)
    distances = (standard.unsqueeze(-1) - standard.unsqueeze(-2)).abs().sum(dim=-1)
    logits = ((batch + 1 - 2 * from_top) * standard - distances) / temperature
    return (torch.softmax(logits, dim=-1) * scores).sum(dim=-1)
