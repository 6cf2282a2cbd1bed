"""How much more frequent an input is among target inputs than among calibration rows, as a classifier tells it.

With logistic regression in which both samples have the same total weight, the odds of "target" at x estimate the ratio
of the densities. It is an estimate: what is made of it rests on it as an assumption.
"""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from certiset.core.errors import DataError

Floats: TypeAlias = NDArray[np.float64]

_CLIPPED = 0.02
"""of the target inputs, whose weights may lie above the bound: the fewer, the fewer rows are kept"""
_LARGEST_LOG = 30.0
_STEPS = 500


@dataclass(frozen=True)
class DensityRatio:
    mean: Floats
    """(features,) of the rows that trained it"""
    scale: Floats
    slope: Floats
    intercept: float
    bound: float
    """where weights are clipped"""

    @classmethod
    def trained(cls, source: NDArray[Any], target: NDArray[Any], bound: float | None = None) -> "DensityRatio":
        """On features (rows, features) of both; the bound, if none is given, is a high quantile on the target's."""
        if len(target) < 2:
            raise DataError(f"{len(target)} target inputs are too few to estimate weights from.", field="target")
        both = np.concatenate([source, target]).astype(np.float64)
        mean, scale = both.mean(axis=0), both.std(axis=0)
        scale = np.where(scale > 0, scale, 1.0)
        inputs = (both - mean) / scale
        # Each sample counts as much as the other, whatever its number.
        share = np.concatenate([np.full(len(source), 1 / len(source)), np.full(len(target), 1 / len(target))])
        sign = np.concatenate([-np.ones(len(source)), np.ones(len(target))])
        ridge = 1 / min(len(source), len(target))

        def loss(parameters: Floats) -> tuple[float, Floats]:
            margins = sign * (inputs @ parameters[:-1] + parameters[-1])
            value = float(share @ np.logaddexp(0, -margins)) + 0.5 * ridge * float(parameters[:-1] @ parameters[:-1])
            pull = -share * sign / (1 + np.exp(np.minimum(margins, _LARGEST_LOG)))
            return value, np.append(pull @ inputs + ridge * parameters[:-1], pull.sum())

        found = minimize(loss, np.zeros(inputs.shape[1] + 1), jac=True, method="L-BFGS-B", options={"maxiter": _STEPS})
        ratio = cls(mean, scale, found.x[:-1], float(found.x[-1]), np.inf)
        if bound is None:
            bound = max(1.0, float(np.quantile(ratio.of(target), 1 - _CLIPPED)))
        return cls(mean, scale, ratio.slope, ratio.intercept, bound)

    def of(self, features: NDArray[Any]) -> Floats:
        """(rows,): the estimated weights, at most the bound."""
        logits = ((features.astype(np.float64) - self.mean) / self.scale) @ self.slope + self.intercept
        return np.asarray(np.minimum(np.exp(np.clip(logits, -_LARGEST_LOG, _LARGEST_LOG)), self.bound))
