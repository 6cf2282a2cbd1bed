"""Bodies of .npz, unpacked in confined processes: one for each tenant, since a body must not see another tenant's.

It stays, so that only a tenant's first body waits for a process; of so many in all, the least recently used ends for
another tenant's.
"""

import json
import threading
from collections import OrderedDict

from certiset.core.confinement import Confinement
from certiset.core.sandbox import SandboxError, Standing
from certiset.service.http.prediction_arrays import Arrays, unpack

_MOST = 8
"""processes"""
_SECONDS = 60.0
_ROOM = 2**32
"""bytes for the reader itself, beside four copies of what is unpacked"""
_NAMES = 2**16
"""bytes beside the arrays"""


class NpzBodies:
    """Used from any thread."""

    def __init__(self, unpacked_bytes: int, max_rows: int, most: int = _MOST) -> None:
        self._unpacked_bytes, self._max_rows, self._most = unpacked_bytes, max_rows, most
        self._readers: OrderedDict[str, Standing] = OrderedDict()
        self._lock = threading.Lock()

    def read(self, tenant: str, body: bytes) -> Arrays:
        limits = {"unpacked_bytes": self._unpacked_bytes, "max_rows": self._max_rows}
        arrays = self._reader(tenant)(body, limits, self._unpacked_bytes + _NAMES).arrays
        try:
            found = dict(zip(json.loads(arrays[0].tobytes()), arrays[1:], strict=True))
            if "x" not in found:
                raise ValueError("x is what was asked for")
        except (IndexError, ValueError, TypeError, RecursionError):
            # It may have been taken over: what it says need not make sense.
            raise SandboxError("gave an answer that makes no sense") from None
        return found

    def close(self) -> None:
        with self._lock:
            for reader in self._readers.values():
                reader.kill()

    def _reader(self, tenant: str) -> Standing:
        with self._lock:
            reader = self._readers.pop(tenant, None)
            if reader is None:
                self._make_room()
                confinement = Confinement(memory=_ROOM + 4 * self._unpacked_bytes, largest_file=0, niceness=5)
                reader = Standing(f"{unpack.__module__}:{unpack.__name__}", confinement=confinement, seconds=_SECONDS)
            self._readers[tenant] = reader
            return reader

    def _make_room(self) -> None:
        """One that is reading is left alone, so that for a moment there may be one more."""
        for tenant in list(self._readers)[: max(0, len(self._readers) + 1 - self._most)]:
            if self._readers[tenant].stop():
                del self._readers[tenant]
