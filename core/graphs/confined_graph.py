"""A graph whose process is started when it is needed, again after it has died, and not too often."""

import math
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certiset.core.errors import UnavailableError
from certiset.core.graphs.graph_process import GraphLimits, GraphProcess
from certiset.core.graphs.row_proof.verdict import NOTHING_YET
from certiset.core.sandbox import SandboxError

_CHUNK_BYTES = 2**24
"""of inputs in one call, so that a deadline means the same for everybody"""
_CHUNK_ROWS = 256
"""of a graph that gets every row in a call of its own, likewise"""
_MOST_DEATHS = 3
_WITHIN_SECONDS = 60.0
_FIRST_PAUSE, _LONGEST_PAUSE = 15.0, 600.0


class GraphDiedError(UnavailableError):
    """The model's process ended, or was ended, while it computed."""

    code = "model_died"
    retry_seconds = 1


class GraphBlockedError(UnavailableError):
    """The model's process has died so often that it is not started for a while."""

    code = "model_blocked"

    def __init__(self, message: str, retry_seconds: float) -> None:
        super().__init__(message)
        self.retry_seconds = math.ceil(retry_seconds)


class ConfinedGraph:
    """Called from any thread, one call at a time."""

    def __init__(
        self,
        content: bytes,
        limits: GraphLimits,
        *,
        started: Callable[["ConfinedGraph"], None],
        died: Callable[[], object],
    ) -> None:
        """``started`` is told before a process is started, ``died`` after one has died."""
        self._content, self._limits = content, limits
        self._started, self._died = started, died
        self._lock = threading.Lock()
        self._process: GraphProcess | None = None
        self._end: weakref.finalize[[], ConfinedGraph] | None = None
        self._deaths: deque[float] = deque(maxlen=_MOST_DEATHS)
        self._pause, self._blocked_until = _FIRST_PAUSE, 0.0
        self.used = time.monotonic()
        self.row_proof = NOTHING_YET

    def __call__(self, x: NDArray[Any]) -> NDArray[Any]:
        most = max(1, _CHUNK_BYTES // max(1, x[:1].nbytes))
        found: list[NDArray[Any]] = []
        start = 0
        while start < len(x) or not found:
            rows = most if self.row_proof.proved else min(most, _CHUNK_ROWS)
            found.append(self._call(x[start : start + rows]))
            start += rows
        return found[0] if len(found) == 1 else np.concatenate(found)

    @property
    def running(self) -> bool:
        return self._process is not None

    def stop(self) -> bool:
        """Ends the process if it is not computing; the next call starts another one."""
        if not self._lock.acquire(blocking=False):
            return False
        try:
            self._drop()
            return True
        finally:
            self._lock.release()

    def kill(self) -> None:
        """Ends the process whatever it does."""
        process = self._process
        if process is not None:
            process.kill()

    def _call(self, x: NDArray[Any]) -> NDArray[Any]:
        with self._lock:
            self.used = time.monotonic()
            try:
                process = self._ready()
                found = process(x)
                self.row_proof = process.row_proof
                return found
            except SandboxError as error:
                self._drop()
                self._note_death()
                raise GraphDiedError(f"The model's process {error} while it computed these rows.") from error

    def _ready(self) -> GraphProcess:
        if self._process is not None and self._process.alive:
            return self._process
        left = self._blocked_until - time.monotonic()
        if left > 0:
            raise GraphBlockedError(
                f"The model's process died {_MOST_DEATHS} times within {_WITHIN_SECONDS:g} seconds, and is not started "
                f"again for {math.ceil(left)} s.",
                left,
            )
        self._drop()
        self._started(self)
        self._process = GraphProcess(self._content, self._limits)
        # A graph that nobody holds any more takes its process with it.
        self._end = weakref.finalize(self, self._process.close)
        return self._process

    def _drop(self) -> None:
        if self._end is not None:
            self._end()
        self._process = self._end = None

    def _note_death(self) -> None:
        now = time.monotonic()
        self._deaths.append(now)
        if len(self._deaths) == _MOST_DEATHS and now - self._deaths[0] < _WITHIN_SECONDS:
            self._blocked_until = now + self._pause
            self._pause = min(2 * self._pause, _LONGEST_PAUSE)
            self._deaths.clear()
        elif len(self._deaths) == 1 or now - self._deaths[-2] > _LONGEST_PAUSE:
            self._pause = _FIRST_PAUSE
        self._died()
