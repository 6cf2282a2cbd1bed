"""Every worker sweeps: jobs whose lease ran out and jobs whose message was lost are announced again.

A worker with a free device also takes jobs that stay unheard although they were announced. Should the broker be away,
or this worker's connection to it be dead without anyone noticing, jobs are late but not lost.
"""

import logging
import threading
import time
from collections.abc import Callable

from core.errors import CertisetError, first_line
from core.settings import Settings
from core.store import Store
from core.store.errors import TRANSIENT
from core.store.garbage import collect_garbage
from worker.supervising import Supervisor

_log = logging.getLogger(__name__)
_GARBAGE_SECONDS = 600.0


class Sweeper:
    def __init__(
        self, settings: Settings, store: Store, supervisor: Supervisor, announce: Callable[[str], bool]
    ) -> None:
        self._settings, self._store, self._supervisor, self._announce = settings, store, supervisor, announce
        self._next_garbage = time.monotonic() + min(_GARBAGE_SECONDS, settings.orphan_seconds)
        self._stopping = supervisor.stopping

    def start(self) -> None:
        threading.Thread(target=self._loop, name="sweeper", daemon=True).start()

    def _loop(self) -> None:
        while not self._stopping.wait(self._settings.sweep_seconds):
            try:
                self.sweep()
            except (*TRANSIENT, CertisetError, OSError) as error:
                _log.warning("The sweep is put off: %s", first_line(error))
            except Exception:
                _log.exception("The sweep broke off")

    def sweep(self) -> None:
        with self._store.writing() as work:
            swept = work.leases.sweep(self._settings.message_seconds)
        if swept.expired:
            _log.warning("%d leases had run out", swept.expired)
        self._take_unheard()
        for id in swept.announced:
            if not self._announce(id):
                break
        if time.monotonic() > self._next_garbage:
            self._next_garbage = time.monotonic() + _GARBAGE_SECONDS
            removed = collect_garbage(self._store, self._settings.orphan_seconds)
            if removed:
                _log.info("%d files that no record names were removed", len(removed))

    def _take_unheard(self) -> None:
        with self._store.reading() as work:
            unheard = work.leases.overdue(2 * self._settings.message_seconds)
        for id in unheard:
            # In a thread, because it lasts as long as the fit; it does nothing unless a device is free.
            self._supervisor.run_aside(id)
