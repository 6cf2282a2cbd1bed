"""Full precision while scores are computed: no TF32, no bfloat16 in the place of float32.

Graphics cards multiply float32 numbers with 10 instead of 23 binary places if they may (TF32; for convolutions PyTorch
lets them by default), and some processors with 7. Thresholds and sets would then depend on the card. These settings
belong to the whole process: `full_precision` sets them back when the last of those who need it is done, and a process
that does nothing but serve pins them for good.
"""

import threading
from typing import Any

import torch

_FULL = ("ieee", "none")
"""none: nobody has chosen, and the setting above it is full precision"""
_lock = threading.Lock()
_users = 0
_before: list[tuple[Any, str, Any]] = []


class full_precision:  # noqa: N801 (reads as a verb where it is used)
    """A block with full precision; may be nested, and entered by many threads at once."""

    def __init__(self, device: torch.device) -> None:
        self._is_needed = device.type != "cpu" or _users > 0 or not _processor_is_precise()

    def __enter__(self) -> None:
        global _users  # noqa: PLW0603 (settings of the process need a count of the process)
        if not self._is_needed:
            return
        with _lock:
            _users += 1
            if _users == 1:
                _before[:] = _pin()

    def __exit__(self, *_: object) -> None:
        global _users  # noqa: PLW0603
        if not self._is_needed:
            return
        with _lock:
            _users -= 1
            if _users == 0:
                for place, name, value in _before:
                    setattr(place, name, value)
                _before.clear()


def pin_full_precision() -> None:
    """For a process that serves: nothing is set back."""
    _pin()


def _processor_is_precise() -> bool:
    """The usual case, which should cost a single set next to nothing."""
    mkldnn: Any = torch.backends.mkldnn
    if not hasattr(mkldnn, "matmul") or not hasattr(mkldnn, "conv"):
        return True
    return mkldnn.matmul.fp32_precision in _FULL and mkldnn.conv.fp32_precision in _FULL


def _pin() -> list[tuple[Any, str, Any]]:
    """What was changed, with the values from before."""
    changed = []
    for place, name, full, values in _settings():
        before = getattr(place, name)
        if before not in values:
            setattr(place, name, full)
            changed.append((place, name, before))
    return changed


def _settings() -> list[tuple[Any, str, Any, tuple[Any, ...]]]:
    backends = torch.backends
    if hasattr(backends.cuda.matmul, "fp32_precision"):
        # To use these beside the older names is an error in PyTorch 2.9 and later.
        operations = [backends.cuda.matmul]
        for library in (backends.cudnn, backends.mkldnn):
            operations += [getattr(library, name) for name in ("conv", "rnn", "matmul") if hasattr(library, name)]
        return [(operation, "fp32_precision", "ieee", _FULL) for operation in operations]
    return [(backends.cuda.matmul, "allow_tf32", False, (False,)), (backends.cudnn, "allow_tf32", False, (False,))]
