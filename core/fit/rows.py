"""Checked data on the device, with the backbone's features."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from certiset.core.data.arrays import CheckedData
from certiset.core.errors import DataError
from certiset.core.fit.tie_hashes import Digests
from certiset.core.models import Model

_ROWS_AT_ONCE = 65_536


@dataclass(frozen=True)
class Rows:
    """A part of the data on the device, ready for the head."""

    features: Tensor
    """(n, features)"""
    outputs: Tensor
    """(n, outputs): what the model as given says, for when its head is not tuned"""
    y: Tensor
    """(n,) labels or (n, targets), in the scorer's unit"""
    digests: Digests | None = None
    """(n,), on the host: of the inputs, where ties are broken by a hash"""

    def __len__(self) -> int:
        return len(self.y)

    def take(self, index: Tensor) -> "Rows":
        digests = None if self.digests is None else self.digests[index.cpu().numpy()]
        return Rows(self.features[index], self.outputs[index], self.y[index], digests)

    def slice(self, start: int, stop: int) -> "Rows":
        digests = None if self.digests is None else self.digests[start:stop]
        return Rows(self.features[start:stop], self.outputs[start:stop], self.y[start:stop], digests)


def on_device(model: Model, data: CheckedData, device: torch.device, dtype: torch.dtype, exponent: int = 0) -> Rows:
    """Data with their features and outputs; targets are in units of 2^exponent."""
    features, outputs = run_model(model, data.x, device, dtype)
    return Rows(features, outputs, targets(data.y, exponent, device, dtype))


def run_model(model: Model, x: NDArray[Any], device: torch.device, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Features and outputs: the backbone runs once over the data, in chunks; the head as given, likewise."""
    features = model.features(x, device, dtype)
    with torch.no_grad():
        outputs = torch.cat([model.given_outputs(part) for part in torch.split(features, _ROWS_AT_ONCE)])
    if not torch.isfinite(outputs).all():
        # Not by their numbers: these may be some of the rows that were given.
        bad = int((~torch.isfinite(outputs).all(dim=1)).sum())
        raise DataError(f"The model's output is not finite for {bad:,} of {len(outputs):,} rows of x.", field="x")
    return features, outputs


def targets(y: NDArray[Any], exponent: int, device: torch.device, dtype: torch.dtype) -> Tensor:
    """Labels as they are, or numbers in units of 2^exponent."""
    if y.dtype.kind == "i":
        return torch.from_numpy(y).to(device)
    with np.errstate(over="ignore"):
        # Divided before it is rounded: a small number has all its digits left.
        found = torch.from_numpy(np.ldexp(y, -exponent)).to(dtype).to(device)
    if not torch.isfinite(found).all():
        precision = str(dtype).removeprefix("torch.")
        raise DataError(f"y is too large for {precision}: rescale it, or choose float64.", field="y")
    return found
