"""Short words for the typed arrays that the unchecked functions take."""

import numpy as np
from numpy.typing import ArrayLike

from certiset.core.bounds.domain import Floats, Ints


def ints(value: ArrayLike) -> Ints:
    return np.asarray(value, dtype=np.int64)


def reals(value: ArrayLike) -> Floats:
    return np.asarray(value, dtype=np.float64)
