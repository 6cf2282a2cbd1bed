"""Inputs as members see them: features by the backbone, in whole grains of rows.

Matrix products treat the last few rows of a batch in another way than the others, which shows in the last bit. Rows are
therefore filled up to whole grains, so that a row's set is the same whichever rows came with it. Where nothing is
multiplied, they stay as they are.
"""

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from certiset.core.fit.scorer import Scorer
from certiset.core.fit.tie_hashes import Digests

GRAIN = 16
"""rows are filled up to a multiple of this before they are computed"""
CHUNK = 4096
"""the most rows that are computed at once, a multiple of GRAIN"""
_NUMPY = {torch.float32: np.float32, torch.float64: np.float64}


class SeenRows(NamedTuple):
    """What members have to know of at most CHUNK inputs."""

    features: Tensor
    """what the backbone makes of them, filled up with copies of the first to whole grains if they will be multiplied"""
    digests: Digests | None
    """likewise, where ties are broken by a hash"""
    asked: int
    """how many of these rows were asked for"""


def see(scorer: Scorer, inputs: NDArray[Any], device: torch.device, dtype: torch.dtype) -> SeenRows:
    """At most CHUNK checked rows."""
    count, model = len(inputs), scorer.model
    missing = -count % GRAIN if scorer.multiplies else 0
    digests = scorer.rule.ties.digests(inputs, dtype)
    if missing and digests is not None:
        digests = np.append(digests, np.full(missing, digests[0]))
    if model.is_in_process:
        # It gets the rows as they are, and none that nobody asked for.
        features = model.features(inputs, device, dtype)
        features = torch.cat([features, features[:1].expand(missing, -1)]) if missing else features
        return SeenRows(features, digests, count)
    if missing:
        filled = np.empty((count + missing, *inputs.shape[1:]), dtype=_NUMPY[dtype])
        with np.errstate(over="ignore"):
            # What is too large for the dtype becomes infinite, and is refused where sets are made.
            filled[: count if count > 1 else None] = inputs
        if count > 1:
            filled[count:] = filled[0]
        inputs = filled
    return SeenRows(model.features(inputs, device, dtype), digests, count)


def see_nothing(scorer: Scorer, device: torch.device, dtype: torch.dtype) -> SeenRows:
    """A row that nobody asked for, from which sets of no row have their form."""
    model = scorer.model
    digests = scorer.rule.ties.digests(np.zeros((1, *model.manifest.input_shape)), dtype)
    return SeenRows(torch.zeros(1, model.head.inputs, dtype=dtype, device=device), digests, 1)
