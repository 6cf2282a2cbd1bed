"""A model's weights: finite tensors by name, from a safetensors file or a mapping of arrays."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load
from torch import Tensor

from certiset.core.errors import ModelError

_KEPT = (torch.uint8, torch.int64)
"""types of a file's bytes and of counters; all else becomes float32"""


def read_weights(weights: str | Path | Mapping[str, Any] | None) -> dict[str, Tensor]:
    if weights is None:
        return {}
    tensors = _from_arrays(weights) if isinstance(weights, Mapping) else _from_file(weights)
    for name, tensor in tensors.items():
        if tensor.is_floating_point() and not torch.isfinite(tensor).all():
            raise ModelError(f"The weight {name} holds a number that is not finite.", field="weights")
    return {name: tensor if tensor.dtype in _KEPT else tensor.float() for name, tensor in tensors.items()}


def read_file(file: str | Path, field: str) -> bytes:
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise ModelError(f"{Path(file).name} cannot be read: {error.strerror}.", field=field) from None


def _from_arrays(arrays: Mapping[str, Any]) -> dict[str, Tensor]:
    try:
        return {str(name): torch.as_tensor(array).detach().cpu() for name, array in arrays.items()}
    except (TypeError, ValueError, RuntimeError) as error:
        raise ModelError(f"The weights must be arrays of numbers: {error}.", field="weights") from None


def _from_file(file: str | Path) -> dict[str, Tensor]:
    try:
        return load(read_file(file, "weights"))
    except SafetensorError as error:
        raise ModelError(f"The weights are not a safetensors file: {error}.", field="weights") from None
