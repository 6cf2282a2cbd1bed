"""Whether everything that the service needs is there: the database, the broker and the artifact store."""

import threading
import time

from pydantic import BaseModel

from core.store import Store
from service.queue import TaskQueue

_FRESH_SECONDS = 1.0


class Ready(BaseModel):
    ready: bool
    database: str
    broker: str
    artifacts: str


class Readiness:
    """The last look, for as long as it is fresh: everybody may ask, so asking often must not cost more."""

    def __init__(self, store: Store, queue: TaskQueue) -> None:
        self._parts = {"database": store.database, "broker": queue, "artifacts": store.artifacts}
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
        answers = {}
        for name, part in self._parts.items():
            try:
                part.ping()  # type: ignore[attr-defined]
                answers[name] = "ok"
            except Exception:
                # Whatever a driver raises; what it says may hold addresses and is not for everybody.
                answers[name] = "away"
        return Ready(ready=set(answers.values()) == {"ok"}, **answers)
