"""A base model with points to calibrate on and points to measure on."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certiset.core.models import Model

ALPHA, DELTA = 0.1, 0.05
"""what every method promises: at most ALPHA of the points missed, but for a chance of DELTA"""


@dataclass(frozen=True)
class LearningProblem:
    name: str
    model: Model
    x: NDArray[Any]
    y: NDArray[Any]
    test_x: NDArray[Any]
    test_y: NDArray[Any]
    fresh: NDArray[Any] | None = None
    """inputs without truths, on which sizes are certified"""

    @property
    def regression(self) -> bool:
        return self.model.manifest.task == "regression"

    def groups(self) -> NDArray[np.int64]:
        """Of each test point: its class, or the tenth of the first input's range in which it lies."""
        if not self.regression:
            return self.test_y.astype(np.int64).reshape(-1)
        first = self.test_x.reshape(len(self.test_x), -1)[:, 0]
        low, high = first.min(), first.max()
        return np.minimum(9, (10 * (first - low) / max(high - low, 1e-12)).astype(np.int64))


def head_weights(data: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """What a stored file holds of a model's head."""
    return {name: data[name] for name in data if name.startswith("head.")}
