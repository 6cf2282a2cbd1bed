"""Whether everything that the service needs can be reached: the database, the broker and the artifact store."""

import threading
import time
from typing import Protocol

from certiset.core.resources import Ready
from certiset.core.store import Store

_FRESH_SECONDS = 1.0


class Part(Protocol):
    def ping(self) -> None:
        """Raises if the part cannot be reached."""
        ...


class Readiness:
    """The last look, for as long as it is fresh: everybody may ask, so asking often must not cost more."""

    def __init__(self, store: Store, announcer: Part) -> None:
        self._parts: dict[str, Part] = {
            "database": store.database,
            "broker": announcer,
            "artifacts": store.artifacts,
        }
        self._lock = threading.Lock()
        self._found: Ready | None = None
        self._looked = 0.0

    def look(self) -> Ready:
        with self._lock:
            if self._found is None or time.monotonic() - self._looked > _FRESH_SECONDS:
                self._found = self._look()
                self._looked = time.monotonic()
            return self._found

    def _look(self) -> Ready:
        states = {}
        for name, part in self._parts.items():
            try:
                part.ping()
                states[name] = "ok"
            except Exception:
                # Whatever a driver raises; what it says may hold addresses and is not for everybody.
                states[name] = "away"
        return Ready(ready=set(states.values()) == {"ok"}, **states)
