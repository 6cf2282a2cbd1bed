"""Ends of sets in floats.

A score and the ends of its level set are computed by different operations, whose rounding may disagree in the last
places. The guarantee needs every y with score <= tau to be inside, so ends are moved outward by a few of those places;
nothing farther out is let in.
"""

import numpy as np
import torch
from torch import Tensor

from core.sets.protocol import Reals

_PLACES = 4.0


def to_float64(values: Tensor) -> Reals:
    return values.detach().cpu().double().numpy()


def slack(center: Reals, radius: Reals, dtype_epsilon: float) -> Reals:
    reach = np.where(np.isfinite(radius), np.abs(radius), 0.0)
    return _PLACES * dtype_epsilon * (np.abs(center) + reach)


def outward(center: Tensor, radius: Tensor) -> tuple[Reals, Reals]:
    """center -+ radius, moved outward; an empty interval (radius < 0) stays empty."""
    epsilon = torch.finfo(center.dtype).eps
    middle, reach = to_float64(center), to_float64(radius)
    wider = reach + np.where(reach >= 0, slack(middle, reach, epsilon), 0.0)
    return middle - wider, middle + wider
