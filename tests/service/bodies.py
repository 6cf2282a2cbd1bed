"""Bodies of requests, as clients send them."""

import io
from typing import Any

import numpy as np

NPZ = {"Content-Type": "application/x-npz"}
NPZ_BACK = {**NPZ, "Accept": "application/x-npz"}
"""for an answer in the same format"""


def npz(**arrays: Any) -> bytes:
    """What NumPy writes to an .npz file."""
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()
