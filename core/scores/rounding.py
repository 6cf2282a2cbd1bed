"""Ends of sets in floats.

A score and the ends of its level set are computed by different operations, whose rounding may disagree in the last
places. The guarantee needs every y with score <= tau to be inside, so ends are moved outward by a few of those places,
and by a few of the smallest numbers that floats hold, for what underflows; nothing farther out is let in. Sizes are
those of the widened sets, since these are what is served.
"""

import numpy as np
import torch
from torch import Tensor

from certiset.core.sets.base import Reals

_PLACES = 4.0


def slack(center: Tensor, reach: Tensor) -> Tensor:
    """How far an end at center -+ reach is moved outward; center and reach broadcast against each other."""
    known = torch.where(torch.isfinite(reach), reach.abs(), torch.zeros_like(reach))
    floats = torch.finfo(reach.dtype)
    return _PLACES * (floats.eps * (center.abs() + known) + floats.tiny)


def widened(center: Tensor, radius: Tensor) -> Tensor:
    """The radius that is served; an empty set (radius < 0) stays empty."""
    return torch.where(radius >= 0, radius + slack(center, radius), radius)


def wide(values: Tensor) -> Tensor:
    """For products of many small numbers: in float64, where the device has it."""
    return values if values.device.type == "mps" else values.double()


def to_float64(values: Tensor) -> Reals:
    return np.asarray(values.detach().cpu().double().numpy())
