"""Memory that two processes share, through which arrays travel without a copy by the kernel."""

import contextlib
import fcntl
import mmap
import os
import tempfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

_PAGE = mmap.ALLOCATIONGRANULARITY


class SharedMemory:
    """Grown by its owner alone. The other side can neither shrink it, which would end whoever reads, nor grow it."""

    def __init__(self) -> None:
        self.descriptor = _anonymous_file()
        self._map: mmap.mmap | None = None

    @property
    def size(self) -> int:
        return 0 if self._map is None else len(self._map)

    def reserve(self, size: int) -> None:
        """At least that many bytes; what was in it stays."""
        if size > self.size:
            wanted = -(-size // _PAGE) * _PAGE
            os.ftruncate(self.descriptor, wanted)
            self._map = mmap.mmap(self.descriptor, wanted)

    def write(self, content: bytes | NDArray[Any]) -> None:
        array = np.frombuffer(content, dtype=np.uint8) if isinstance(content, bytes) else np.ascontiguousarray(content)
        self.reserve(array.nbytes)
        if array.nbytes:
            view(self._map, array.dtype, array.shape)[...] = array

    def read(self, dtype: "np.dtype[Any]", shape: tuple[int, ...]) -> NDArray[Any]:
        """A copy of its own: the other side may go on writing."""
        return view(self._map, dtype, shape).copy()

    def close(self) -> None:
        # A map that an array still looks into is closed with that array.
        if self._map is not None:
            with contextlib.suppress(BufferError):
                self._map.close()
            self._map = None
        os.close(self.descriptor)


def view(memory: mmap.mmap | None, dtype: "np.dtype[Any]", shape: tuple[int, ...]) -> NDArray[Any]:
    """The bytes at the memory's beginning as an array."""
    count = int(np.prod(shape, dtype=np.int64))
    if memory is None or not count:
        return np.zeros(shape, dtype=dtype)
    return np.frombuffer(memory, dtype=dtype, count=count).reshape(shape)


def _anonymous_file() -> int:
    if not hasattr(os, "memfd_create"):
        with tempfile.TemporaryFile() as file:
            return os.dup(file.fileno())
    descriptor = os.memfd_create("certiset", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)
    return descriptor
