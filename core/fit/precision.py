"""Full precision while scores are computed: no TF32, no bfloat16 in the place of float32.

Graphics cards multiply float32 numbers with 10 instead of 23 binary places if they may (TF32; for convolutions PyTorch
lets them by default), and some processors with 7. Thresholds and sets would then depend on the card. These settings
belong to the whole process: `full_precision` sets them back when the last of those who need it is done, and a process
that does nothing but serve pins them for good.
"""

import functools
import threading
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch

_FULL = ("ieee", "none")
"""none: nobody has chosen, and the setting above it is full precision"""
_lock = threading.Lock()
_users = 0
_before: list[tuple[Any, str, Any]] = []


def full_precision(device: torch.device) -> AbstractContextManager[None]:
    """A block with full precision; may be nested, and entered by many threads at once."""
    if _users == 0 and device.type == "cpu" and _processor_is_precise():
        return _AS_IT_IS
    return _Pinned()


_AS_IT_IS = nullcontext()


class _Pinned(AbstractContextManager[None]):
    def __enter__(self) -> None:
        global _users  # noqa: PLW0603 (settings of the process need a count of the process)
        with _lock:
            _users += 1
            if _users == 1:
                _before[:] = _pin()

    def __exit__(self, *_: object) -> None:
        global _users  # noqa: PLW0603
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
    return all([operation.fp32_precision in _FULL for operation in _processor_operations()])  # noqa: C419 (quicker)


@functools.cache
def _processor_operations() -> tuple[Any, ...]:
    """Those of a processor that have a precision to choose; looking them up takes longer than asking them."""
    mkldnn: Any = torch.backends.mkldnn
    found = tuple(getattr(mkldnn, name, None) for name in ("matmul", "conv"))
    return () if None in found else found


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
