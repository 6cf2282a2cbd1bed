"""How many sets were issued: counted in memory, and added up in the database every few seconds by a thread."""

import logging
import threading

from certiset.core.errors import first_line
from certiset.core.store import Store

_SECONDS = 3.0
_CLOSE_SECONDS = 5.0
_log = logging.getLogger(__name__)


class IssuedCounts:
    """`count` never waits for the database. What was counted since the last write is lost if the process is killed."""

    def __init__(self, store: Store, seconds: float = _SECONDS) -> None:
        self._store, self._seconds = store, seconds
        self._counted: dict[tuple[str, str], int] = {}
        self._asked: dict[tuple[str, str], int] = {}
        """by the token of a deployment"""
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="issued sets", daemon=True)
        self._thread.start()

    def count(self, tenant: str, predictor: str, sets: int) -> None:
        with self._lock:
            key = (tenant, predictor)
            self._counted[key] = self._counted.get(key, 0) + sets

    def count_asked(self, tenant: str, token: str, sets: int) -> None:
        """Sets that were served under the name of a deployment that collects outcomes."""
        with self._lock:
            key = (tenant, token)
            self._asked[key] = self._asked.get(key, 0) + sets

    def flush(self) -> None:
        """Adds up what was counted, each predictor's by itself; what cannot be written is kept for the next time."""
        with self._lock:
            counted, self._counted = self._counted, {}
            asked, self._asked = self._asked, {}
        for (tenant, predictor), sets in sorted(counted.items()):
            try:
                with self._store.writing() as work:
                    if not work.predictors.is_withdrawn(tenant, predictor):
                        work.outcomes.count_issued(tenant, predictor, sets)
            except Exception as error:
                # Whatever is wrong with the database, this thread must outlive it.
                _log.warning("issued sets could not be counted: %s", first_line(error))
                self.count(tenant, predictor, sets)

        for (tenant, token), sets in sorted(asked.items()):
            try:
                with self._store.writing() as work:
                    work.deployments.count_issued(tenant, token, sets)
            except Exception as error:
                _log.warning("sets of a deployment could not be counted: %s", first_line(error))
                self.count_asked(tenant, token, sets)

    def close(self) -> None:
        """Writes the rest, if the database answers soon."""
        self._closing.set()
        self._thread.join(_CLOSE_SECONDS)

    def _run(self) -> None:
        while not self._closing.wait(self._seconds):
            self.flush()
        self.flush()
