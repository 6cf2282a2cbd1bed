"""Calibration data: checked before any work, then held on the device with the backbone's features."""

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from core.errors import DataError
from core.models import Model

_ROWS_AT_ONCE = 65_536
_FEW = 65_536
"""numbers that are looked at in one go"""


@dataclass(frozen=True)
class CheckedData:
    x: NDArray[Any]
    """(rows, *input_shape)"""
    y: NDArray[Any]
    """(rows,) labels or (rows, targets)"""

    @property
    def sha256(self) -> str:
        digest = hashlib.sha256()
        for array in (self.x, self.y):
            digest.update(f"{array.dtype.str}{array.shape}".encode())
            for start in range(0, len(array), _ROWS_AT_ONCE):
                digest.update(np.ascontiguousarray(array[start : start + _ROWS_AT_ONCE]).tobytes())
        return digest.hexdigest()


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


def check_inputs(model: Model, x: ArrayLike) -> NDArray[Any]:
    """Inputs as (rows, *input_shape) of finite floats."""
    inputs = _array("x", x)
    shape = model.manifest.input_shape
    if inputs.shape[1:] != shape:
        if inputs.ndim >= 1 and inputs.size == len(inputs) * int(np.prod(shape)):
            inputs = inputs.reshape(-1, *shape)
        else:
            raise DataError(f"the model takes inputs of shape {shape}, but x has rows of shape {inputs.shape[1:]}.")
    _finite("x", inputs)
    return inputs


def check_data(model: Model, x: ArrayLike, y: ArrayLike, *, allow_missing_classes: bool) -> CheckedData:
    inputs, targets = check_inputs(model, x), _array("y", y)
    if len(inputs) != len(targets):
        raise DataError(f"x has {len(inputs)} rows and y has {len(targets)}: one target a row is needed.")
    if len(inputs) < 2:
        raise DataError("at least two rows are needed.")
    _finite("y", targets)
    if model.manifest.task == "classification":
        return CheckedData(inputs, _labels(targets, model.outputs, allow_missing_classes))
    columns = targets.reshape(len(targets), -1).astype(np.float64)
    if np.all(columns == columns[0]):
        raise DataError("every y is the same: there is nothing to calibrate.")
    return CheckedData(inputs, columns)


def on_device(model: Model, data: CheckedData, device: torch.device, dtype: torch.dtype) -> Rows:
    """The backbone runs once over the data, in chunks; the head as given, likewise."""
    features = model.features(data.x, device, dtype)
    with torch.no_grad():
        outputs = torch.cat([model.given_outputs(part) for part in torch.split(features, _ROWS_AT_ONCE)])
    if not torch.isfinite(outputs).all():
        raise DataError("the model's output is not finite for some row of x.")
    y = torch.from_numpy(data.y).to(device)
    y = y if y.dtype == torch.int64 else y.to(dtype)
    if y.is_floating_point() and not torch.isfinite(y).all():
        raise DataError(f"y is too large for {str(dtype).removeprefix('torch.')}: rescale it, or choose float64.")
    return Rows(features, outputs, y)


def _labels(targets: NDArray[Any], classes: int, allow_missing_classes: bool) -> NDArray[np.int64]:
    flat = targets.reshape(len(targets), -1)
    if flat.shape[1] != 1:
        raise DataError(f"y must hold one label a row, not {flat.shape[1]} columns.")
    values = flat[:, 0]
    if np.any(values != np.floor(values)):
        raise DataError(f"labels must be whole numbers, and {values[values != np.floor(values)][0]:g} is not.")
    labels = values.astype(np.int64)
    if labels.min() < 0 or labels.max() >= classes:
        bad = int(labels[(labels < 0) | (labels >= classes)][0])
        raise DataError(f"labels must be from 0 to {classes - 1}, the model's classes, and {bad} is not.")
    seen = np.unique(labels)
    if seen.size == 1:
        raise DataError(f"every label is {seen[0]}: there is nothing to calibrate.")
    if seen.size < classes and not allow_missing_classes:
        missing = sorted(set(range(classes)) - set(seen.tolist()))
        shown = ", ".join(map(str, missing[:5])) + (", ..." if len(missing) > 5 else "")
        raise DataError(
            f"no row has label {shown}: the data do not look like the model's {classes} classes. "
            "If that is meant, pass allow_missing_classes=True."
        )
    return labels


def _array(name: str, value: ArrayLike) -> NDArray[Any]:
    if isinstance(value, Tensor):
        host = value.detach().cpu()
        value = (host.float() if host.dtype == torch.bfloat16 else host).numpy()
    try:
        array = np.asarray(value)
    except ValueError:
        raise DataError(f"{name} must be an array whose rows all have one shape.") from None
    if array.dtype.kind not in "biuf":
        raise DataError(f"{name} must be an array of numbers, not of {array.dtype}.")
    if array.ndim == 0:
        raise DataError(f"{name} must be an array with one row for each point.")
    plain = array.dtype.newbyteorder("=")
    return array.astype(np.float64 if plain.itemsize > 8 else plain, copy=False)


def _finite(name: str, array: NDArray[Any]) -> None:
    if array.dtype.kind != "f" or (array.size <= _FEW and np.isfinite(array).all()):
        return
    for start in range(0, len(array), _ROWS_AT_ONCE):
        bad = ~np.isfinite(array[start : start + _ROWS_AT_ONCE])
        if bad.any():
            place = np.argwhere(bad)[0]
            row = start + int(place[0])
            where = f"row {row}" + (f", column {', '.join(map(str, place[1:]))}" if len(place) > 1 else "")
            raise DataError(f"{name} must be finite, and {where} is {array[(row, *place[1:])]}.")
