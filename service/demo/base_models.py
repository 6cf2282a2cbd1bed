"""Small feed-forward networks, trained in seconds on one CPU thread: the same seed gives the same weights."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

Loss = Callable[[Tensor, Tensor], Tensor]


def train(
    x: NDArray[Any], y: NDArray[Any], widths: Sequence[int], loss: Loss, *, steps: int, seed: int
) -> dict[str, NDArray[np.float32]]:
    """The weights of a ReLU network, named as a manifest's mlp head has them; Adam on all rows at once."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            layers = [nn.Linear(inputs, outputs) for inputs, outputs in pairwise(widths)]
        _minimise(layers, torch.as_tensor(x), torch.as_tensor(y), loss, steps)
    finally:
        torch.set_num_threads(threads)
    return {
        f"head.{place}.{name}": tensor.detach().numpy()
        for place, layer in enumerate(layers)
        for name, tensor in layer.named_parameters()
    }


def _minimise(layers: list[nn.Linear], x: Tensor, y: Tensor, loss: Loss, steps: int) -> None:
    network = nn.Sequential(*[part for layer in layers for part in (layer, nn.ReLU())][:-1])
    optimizer = torch.optim.Adam(network.parameters(), lr=3e-3, weight_decay=1e-4)
    for _ in range(steps):
        optimizer.zero_grad()
        loss(network(x), y).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
