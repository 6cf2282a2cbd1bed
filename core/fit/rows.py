"""Checked data on the device, with the backbone's features."""

from dataclasses import dataclass

import torch
from torch import Tensor

from certiset.core.data.arrays import CheckedData
from certiset.core.errors import DataError
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
    """(n,) labels or (n, targets)"""

    def __len__(self) -> int:
        return len(self.y)

    def take(self, index: Tensor) -> "Rows":
        return Rows(self.features[index], self.outputs[index], self.y[index])

    def slice(self, start: int, stop: int) -> "Rows":
        return Rows(self.features[start:stop], self.outputs[start:stop], self.y[start:stop])


def on_device(model: Model, data: CheckedData, device: torch.device, dtype: torch.dtype) -> Rows:
    """The backbone runs once over the data, in chunks; the head as given, likewise."""
    features = model.features(data.x, device, dtype)
    with torch.no_grad():
        outputs = torch.cat([model.given_outputs(part) for part in torch.split(features, _ROWS_AT_ONCE)])
    if not torch.isfinite(outputs).all():
        raise DataError("The model's output is not finite for some row of x.", field="x")
    y = torch.from_numpy(data.y).to(device)
    y = y if y.dtype == torch.int64 else y.to(dtype)
    if y.is_floating_point() and not torch.isfinite(y).all():
        precision = str(dtype).removeprefix("torch.")
        raise DataError(f"y is too large for {precision}: rescale it, or choose float64.", field="y")
    return Rows(features, outputs, y)
