"""How many threads a fit uses: one where its products are small.

PyTorch shares every product among all cores, and lets its threads wait for each other actively. For the small products
of most heads that costs more than it brings, and where the cores are busy with other work it costs a great deal: a fit
of two seconds takes half a minute. Large products, and GPUs, are left as they are.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from certiset.core.models import Model

CROSSOVER = 2**26
"""products per step (rows of a batch times parameters) below which one thread is as quick (benchmarks/threads.py)"""
_BATCH = 256


@contextmanager
def suitable_threads(model: Model, device: torch.device) -> Iterator[None]:
    """One thread for small heads, and as many as before afterwards; for what comes after the backbone."""
    before = torch.get_num_threads()
    if device.type != "cpu" or before == 1 or _BATCH * len(model.head_parameters) > CROSSOVER:
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
