"""Who has just let somebody wait in vain is not asked again by everybody at once."""

import math
import threading
import time

_REST_SECONDS = 1.0


class Breaker:
    """Open after a time-out: callers are refused at once, but for one a second who tries for all of them."""

    def __init__(self, rest_seconds: float = _REST_SECONDS) -> None:
        self._rest_seconds = rest_seconds
        self._lock = threading.Lock()
        self._is_open = False
        self._tripped = self._tried = -math.inf

    @property
    def is_open(self) -> bool:
        return self._is_open

    @property
    def has_just_tripped(self) -> bool:
        return self._is_open and time.monotonic() - self._tripped < self._rest_seconds / 2

    def trip(self) -> None:
        with self._lock:
            self._is_open, self._tripped = True, time.monotonic()

    def mend(self) -> None:
        if self._is_open:
            with self._lock:
                self._is_open = False

    def refuses(self) -> bool:
        """Whether the caller must not try; one who may try keeps the others from it for a second."""
        if not self._is_open:
            return False
        with self._lock:
            now = time.monotonic()
            if now - max(self._tripped, self._tried) < self._rest_seconds:
                return self._is_open
            self._tried = now
            return False
