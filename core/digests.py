"""SHA-256 of models and of members, as certificates state them: over NumPy arrays, so that a check needs no PyTorch."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def model_sha256(manifest: Mapping[str, Any], tensors: Mapping[str, NDArray[Any]]) -> str:
    """Of the manifest's JSON and every weight, in the order of their names."""
    digest = hashlib.sha256(repr(sorted(manifest.items())).encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name}{tensor.shape}".encode())
        digest.update(np.ascontiguousarray(tensor).tobytes())
    return digest.hexdigest()


def members_sha256(
    theta: NDArray[Any], tau: NDArray[Any], scoring: Mapping[str, Any], tie: NDArray[Any] | None = None
) -> str:
    """Of the members, and of how they are to be read; ``tie`` where ties are broken."""
    digest = hashlib.sha256(json.dumps(scoring, sort_keys=True).encode())
    for array in (theta, tau) if tie is None else (theta, tau, tie):
        # The types' names are PyTorch's, in whose words the first certificates were written.
        digest.update(f"torch.{array.dtype.name}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
