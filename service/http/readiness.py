"""Whether this process can serve sets, and what else is degraded: database, broker, artifact store, disk.

Each part is tried by a thread of its own, with a write, so that one that hangs holds up neither the others nor whoever
asks. Ready is who can serve sets: from memory, or because database and artifact store can be read. A load balancer that
took every replica away because their common database is down would turn an outage of some routes into one of all.
"""

import asyncio
import contextlib
import errno
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from certiset.core.errors import ArtifactsReadOnlyError, DatabaseBusyError, DatabaseReadOnlyError, StoreFullError
from certiset.core.resources import Ready
from certiset.core.store import Store

_FRESH_SECONDS = 1.0
_DEADLINE_SECONDS = 2.0
_OK, _UNAVAILABLE = "ok", "unavailable"
_READABLE = ("ok", "busy", "full", "read-only")
_ERRORS: dict[type[Exception], str] = {
    StoreFullError: "full",
    DatabaseReadOnlyError: "read-only",
    ArtifactsReadOnlyError: "read-only",
    DatabaseBusyError: "busy",
}
_ERRNO = {errno.ENOSPC: "full", errno.EDQUOT: "full", errno.EROFS: "read-only", errno.EACCES: "read-only"}


class Part(Protocol):
    def ping(self) -> None:
        """Raises if the part cannot be reached, or not be written."""
        ...


class Readiness:
    """The last look, for as long as it is fresh: everybody may ask, so asking often must not cost more.

    Used from the event loop alone.
    """

    def __init__(self, store: Store, announcer: Part, serves_from_memory: Callable[[], bool]) -> None:
        self._probes = {
            "database": _Probe(store.database.ping),
            "broker": _Probe(announcer.ping),
            "artifacts": _Probe(store.artifacts.ping),
            "disk": _Probe(lambda: _write(store.settings.home)),
        }
        self._serves_from_memory = serves_from_memory
        self._looking: asyncio.Task[Ready] | None = None
        self._found: Ready | None = None
        self._looked = 0.0

    async def look(self) -> Ready:
        if self._found is not None and time.monotonic() - self._looked < _FRESH_SECONDS:
            return self._found
        if self._looking is None:
            self._looking = asyncio.create_task(self._look())
        # Who asks and goes away must not take the look with it: others wait for the same.
        return await asyncio.shield(self._looking)

    async def _look(self) -> Ready:
        try:
            states = dict(
                zip(self._probes, await asyncio.gather(*(p.state() for p in self._probes.values())), strict=True)
            )
            from_store = states["database"] in _READABLE and states["artifacts"] in _READABLE
            self._found = Ready(ready=from_store or self._serves_from_memory(), **states)
            self._looked = time.monotonic()
            return self._found
        finally:
            self._looking = None


class _Probe:
    """One part. While a look at it hangs, no other is begun."""

    def __init__(self, ping: Callable[[], None]) -> None:
        self._ping = ping
        self._running: asyncio.Future[str] | None = None

    async def state(self) -> str:
        if self._running is not None and not self._running.done():
            return _UNAVAILABLE
        self._running = running = asyncio.get_running_loop().create_future()
        # A daemon: a part that hangs must not keep the process from ending.
        threading.Thread(target=self._look, args=(running,), name="readiness", daemon=True).start()
        await asyncio.wait({running}, timeout=_DEADLINE_SECONDS)
        return running.result() if running.done() else _UNAVAILABLE

    def _look(self, running: "asyncio.Future[str]") -> None:
        try:
            self._ping()
            found = _OK
        except Exception as error:
            # Whatever a driver raises; what it says may hold addresses and is not for everybody.
            found = _state_of(error)
        with contextlib.suppress(RuntimeError):
            # A closed event loop means that nobody is waiting any more.
            running.get_loop().call_soon_threadsafe(running.set_result, found)


def _state_of(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno in _ERRNO:
        return _ERRNO[error.errno]
    return next((state for kind, state in _ERRORS.items() if isinstance(error, kind)), _UNAVAILABLE)


def _write(home: Path) -> None:
    """Raises unless uploads would find space."""
    probe = home / f".readiness-{uuid.uuid4().hex}"
    try:
        probe.write_bytes(bytes(4096))
    finally:
        with contextlib.suppress(OSError):
            probe.unlink(missing_ok=True)
