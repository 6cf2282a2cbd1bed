"""How much rounding there is in the scores: some rows computed once more, in another precision.

Another BLAS, another device or another order of the same sums gives scores that differ by as much as they differ from
the exact ones. Where scores tie, many rows sit exactly at the threshold, and a difference in the last place would take
them all out of their sets at once. How large it is depends on what cancels inside of the network, and cannot be read
off the result; so it is measured. Inputs and targets are rounded as they are when served: that is the same everywhere.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from certiset.core.data.arrays import CheckedData
from certiset.core.fit.rows import Rows, targets
from certiset.core.fit.scorer import Scorer
from certiset.core.models import Model

_MOST_ROWS = 2048
_ROWS_OF_BACKBONE = 64
"""whose features take long in float64"""
_MOST_PRODUCTS = 2**27
"""rows times parameters, for each member"""
_SAFETY = 8.0
_STRAY = 1000
"""one row in so many may stray farther: a score that jumps where two labels change places"""
_FOREIGN_PLACES = 32.0
"""by which the features of a graph that has one precision only may differ elsewhere"""
_CPU = torch.device("cpu")


@dataclass(frozen=True)
class ReferenceRows:
    """The first rows of D_N in the other precision, on the host: float64, or float32 for a fit in float64."""

    rows: Rows
    scorer: Scorer
    served: torch.dtype

    @torch.no_grad()
    def slack(self, theta: Tensor, scores: Tensor) -> float:
        """What the scores (n,) of one theta (d,) may be off by elsewhere, with a margin."""
        prediction = self.scorer.predict(theta.cpu().to(self.rows.features.dtype).unsqueeze(0), self.rows)
        exact = self.scorer.score.of_target(prediction, self.rows.y)[0].double()
        return _SAFETY * largest_error(scores[: len(exact)].to(_CPU).double() - exact, self.served)


def make_reference(scorer: Scorer, data: CheckedData, calibration: Tensor, dtype: torch.dtype) -> ReferenceRows:
    """``calibration`` are the numbers of D_N's rows, in their order."""
    model = scorer.model
    most = min(_MOST_ROWS, max(_ROWS_OF_BACKBONE, _MOST_PRODUCTS // max(1, scorer.parameters)))
    taken = calibration[: most if model.manifest.backbone.is_quick else _ROWS_OF_BACKBONE].cpu().numpy()
    other = torch.float32 if dtype == torch.float64 else torch.float64
    features = reference_features(model, data.x[taken], dtype, other)
    y = targets(data.y[taken], scorer.exponent, _CPU, dtype)
    y = y.to(other) if y.is_floating_point() else y
    with torch.no_grad():
        rows = Rows(features, model.given_outputs(features), y)
    return ReferenceRows(rows, scorer, dtype)


def reference_features(model: Model, x: NDArray[Any], served: torch.dtype, dtype: torch.dtype) -> Tensor:
    """Of inputs that were rounded to the precision that is served, computed in another one.

    A graph of strangers has one precision. Its rows are computed alone, where sums are taken in another order than in a
    batch, whatever the graph makes of the difference, and are moved by a few of the places that it has.
    """
    rounded = x if model.is_in_process else torch.from_numpy(np.ascontiguousarray(x)).to(served).numpy()
    if not model.manifest.backbone.is_foreign:
        return model.features(rounded, _CPU, dtype)
    features = torch.cat([model.features(rounded[row : row + 1], _CPU, dtype) for row in range(len(rounded))])
    noise = 2 * torch.rand(features.shape, generator=torch.Generator().manual_seed(0), dtype=dtype) - 1
    size = features.abs().amax(dim=1, keepdim=True)
    return features + _FOREIGN_PLACES * torch.finfo(torch.float32).eps * size * noise


def largest_error(differences: Tensor, served: torch.dtype) -> float:
    """Of the precision that is served, from differences between float32 and float64; all but a few strays."""
    sizes = differences.abs().flatten()
    sizes = sizes[torch.isfinite(sizes)].sort(descending=True).values
    if not len(sizes):
        return 0.0
    ratio = torch.finfo(served).eps / torch.finfo(torch.float32).eps
    return float(sizes[len(sizes) // _STRAY]) * ratio
