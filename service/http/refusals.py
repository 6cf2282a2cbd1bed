"""Refused calls on their way to the audit log: counted here, and written by a thread, a row for each kind."""

import logging
import threading
import time
from dataclasses import replace

from certiset.core.errors import first_line
from certiset.core.store import Store
from certiset.core.store.audit import Actor, Refusals, merged

_MOST_KINDS = 256
"""counted apart; beyond these, addresses are not told apart any more, so that a flood makes few rows"""
_CLOSE_SECONDS = 5.0
_log = logging.getLogger(__name__)

_Kind = tuple[str, Actor, str | None, int, str]


class RefusalLog:
    """`count` never waits for the database. What was counted since the last write is lost if the process is killed."""

    def __init__(self, store: Store, seconds: float) -> None:
        self._store, self._seconds = store, seconds
        self._counted: dict[_Kind, Refusals] = {}
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="audit of refusals", daemon=True)
        self._thread.start()

    def count(
        self, *, action: str, actor: Actor, tenant: str | None, status: int, code: str, object_id: str | None = None
    ) -> None:
        now = time.time()
        self._add(Refusals(action, actor, tenant, status, code, 1, now, now, object_id))

    def flush(self) -> None:
        """Writes what was counted; what cannot be written is kept for the next time."""
        with self._lock:
            counted, self._counted = self._counted, {}
        if not counted:
            return
        try:
            with self._store.writing() as work:
                for refusals in counted.values():
                    work.audit.add_refusals(refusals)
        except Exception as error:
            # Whatever is wrong with the database, this thread must outlive it.
            _log.warning("refused calls could not be written to the audit log: %s", first_line(error))
            for refusals in counted.values():
                self._add(refusals)

    def close(self) -> None:
        """Writes the rest, if the database answers soon."""
        self._closing.set()
        self._thread.join(_CLOSE_SECONDS)

    def _add(self, refusals: Refusals) -> None:
        with self._lock:
            kind = _kind(refusals)
            if kind not in self._counted and len(self._counted) >= _MOST_KINDS:
                refusals = replace(refusals, actor=replace(refusals.actor, address=None))
                kind = _kind(refusals)
            known = self._counted.get(kind)
            self._counted[kind] = refusals if known is None else merged(known, refusals)

    def _run(self) -> None:
        while not self._closing.wait(self._seconds):
            self.flush()
        self.flush()


def _kind(refusals: Refusals) -> _Kind:
    return refusals.action, refusals.actor, refusals.tenant, refusals.status, refusals.code
