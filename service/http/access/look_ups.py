"""Keys are looked up in the database by a few threads, and no outage of it costs a request more than a moment.

A key that was valid a while ago is looked up again before it is used; if the database does not answer within a moment,
it is used as it was last known, while the look-up goes on.
"""

import asyncio
import time

from anyio import CapacityLimiter
from anyio.to_thread import run_sync

from certiset.core.errors import StoreError
from certiset.service.http.access.keys import Caller, KeyRing

_MOMENT_SECONDS = 0.25
_REST_SECONDS = 1.0
"""after a look-up that failed, keys that are known are used at once"""


class LookUps:
    """Used from the event loop alone."""

    def __init__(self, keys: KeyRing) -> None:
        self._keys = keys
        self._running: dict[str, tuple[float, asyncio.Task[Caller | None]]] = {}
        self._resting_until = 0.0
        # Threads that no other work can take; of addresses that have sent many wrong keys, one for all of them.
        self._threads, self._suspects = CapacityLimiter(4), CapacityLimiter(1)

    async def caller(self, digest: str, *, suspect: bool) -> Caller | None:
        """Raises a `StoreError` if the key was not seen lately and the database cannot be asked."""
        stale = self._keys.stale(digest)
        if stale is None:
            _, task = self._look_up(digest, suspect)
            # A caller that goes away must not take the look-up with it: others wait for the same.
            return await asyncio.shield(task)
        if time.monotonic() < self._resting_until:
            return stale
        begun, task = self._look_up(digest, suspect)
        await asyncio.wait({task}, timeout=max(0.0, begun + _MOMENT_SECONDS - time.monotonic()))
        if not task.done() or isinstance(task.exception(), StoreError):
            return stale
        return task.result()

    def _look_up(self, digest: str, suspect: bool) -> tuple[float, asyncio.Task[Caller | None]]:
        running = self._running.get(digest)
        if running is None:
            limiter = self._suspects if suspect else self._threads
            task = asyncio.create_task(run_sync(self._keys.look_up, digest, limiter=limiter))
            running = self._running[digest] = (time.monotonic(), task)
            task.add_done_callback(lambda done: self._ended(digest, done))
        return running

    def _ended(self, digest: str, task: "asyncio.Task[Caller | None]") -> None:
        del self._running[digest]
        if not task.cancelled() and task.exception() is not None:
            self._resting_until = time.monotonic() + _REST_SECONDS
