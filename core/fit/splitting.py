"""Which rows tune and which calibrate.

Independent rows are shuffled by the seed and cut in two. Where rows belong together, clusters are: all rows of the
first ones tune, and of each of the others *one row, drawn at random*, calibrates. If clusters are independent draws
from one law then so are these rows, from the law of "one randomly chosen row of a new cluster". With times, the latest
calibrate.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from certiset.core.data.arrays import CheckedData


@dataclass(frozen=True)
class Split:
    tuning: Tensor | None
    """places of rows, in random order"""
    calibration: Tensor
    """places of rows, one of each cluster"""
    in_sequence: Tensor
    """one row of each cluster (or all rows), in the order of time, or as they came"""


def count_units(data: CheckedData) -> tuple[int, str]:
    """How many independent draws the rows are, and what they are called."""
    if data.clusters is None:
        return len(data.y), "rows"
    return int(data.clusters.max()) + 1, "clusters"


def split(seed: int, n_tune: int, data: CheckedData) -> Split:
    """The same for the same seed, so that an auditor splits as the fit did; looks at clusters and times, and at no row.

    ``n_tune`` counts clusters where there are any.
    """
    generator = torch.Generator().manual_seed(seed)
    units, _ = count_units(data)
    shuffled = torch.randperm(units, generator=generator)
    ordered = data.times is not None or data.clusters is not None
    if data.clusters is None:
        drawn = torch.arange(units)
    else:
        drawn = _one_of_each(torch.from_numpy(data.clusters), units, generator)
    sequence = drawn if data.clusters is None else drawn.sort().values
    if data.times is not None:
        times = torch.from_numpy(np.unique(data.times, return_inverse=True)[1])
        shuffled = shuffled[torch.argsort(_latest(times, data.clusters, units)[shuffled], stable=True)]
        sequence = _at_random_where_equal(sequence, times, generator)
    first, rest = shuffled[:n_tune], shuffled[n_tune:]
    if not n_tune:
        return Split(None, drawn[rest], sequence)
    tuning = first if data.clusters is None else torch.isin(torch.from_numpy(data.clusters), first).nonzero()[:, 0]
    if ordered:
        tuning = tuning[torch.randperm(len(tuning), generator=generator)]
    return Split(tuning, drawn[rest], sequence)


def _one_of_each(clusters: Tensor, units: int, generator: torch.Generator) -> Tensor:
    """(units,): the place of one row of each cluster, each row of it equally likely."""
    sizes = torch.bincount(clusters, minlength=units)
    starts = sizes.cumsum(0) - sizes
    chances = torch.rand(units, generator=generator, dtype=torch.float64)
    # A product just below the size may be rounded up to it.
    within = torch.minimum((chances * sizes).long(), sizes - 1)
    return torch.argsort(clusters, stable=True)[starts + within]


def _latest(times: Tensor, clusters: np.ndarray | None, units: int) -> Tensor:
    """(units,): a cluster is as late as its latest row."""
    if clusters is None:
        return times
    return torch.zeros(units, dtype=times.dtype).scatter_reduce(0, torch.from_numpy(clusters), times, "amax")


def _at_random_where_equal(places: Tensor, times: Tensor, generator: torch.Generator) -> Tensor:
    mixed = places[torch.randperm(len(places), generator=generator)]
    return mixed[torch.argsort(times[mixed], stable=True)]
