"""Every worker sweeps: jobs whose lease expired and jobs whose message was lost are announced again.

A worker with a free device also takes jobs that no worker has taken although they were announced. If the broker is
unavailable, or a worker's connection to it has silently died, jobs are late but not lost.
"""

import logging
import threading
import time

from certiset.core.errors import CertisetError, StoreError, first_line
from certiset.core.scratch import remove_abandoned
from certiset.core.store.errors import driver_message
from certiset.core.store.garbage import collect_garbage
from certiset.worker.context import WorkerContext
from certiset.worker.supervisor import Supervisor

_log = logging.getLogger(__name__)
_GARBAGE_SECONDS = 600.0


class Sweeper:
    def __init__(self, context: WorkerContext, supervisor: Supervisor) -> None:
        self._context, self._supervisor = context, supervisor
        self._settings, self._store = context.settings, context.store
        self._next_garbage = time.monotonic() + min(_GARBAGE_SECONDS, self._settings.orphan_seconds)

    def start(self) -> None:
        threading.Thread(target=self._loop, name="sweeper", daemon=True).start()

    def _loop(self) -> None:
        while not self._context.stopping.wait(self._settings.sweep_seconds):
            try:
                self.sweep()
            except StoreError as error:
                _log.warning("The sweep is postponed: %s", driver_message(error))
            except (CertisetError, OSError) as error:
                _log.warning("The sweep is postponed: %s", first_line(error))
            except Exception:
                _log.exception("The sweep failed with an unexpected error")

    def sweep(self) -> None:
        with self._store.writing() as work:
            swept = work.leases.sweep(self._settings.message_seconds)
        if swept.expired:
            _log.warning("%d leases had expired", swept.expired)
        self._take_overdue()
        for id in swept.announced:
            if not self._context.announce(id):
                break
        if time.monotonic() > self._next_garbage:
            self._next_garbage = time.monotonic() + _GARBAGE_SECONDS
            remove_abandoned(self._settings.worker_scratch)
            removed = collect_garbage(self._store, self._settings.orphan_seconds)
            if removed:
                _log.info("%d files that no record refers to were removed", len(removed))

    def _take_overdue(self) -> None:
        with self._store.reading() as work:
            overdue = work.leases.overdue(2 * self._settings.message_seconds)
        if overdue:
            # In threads, because it lasts as long as the fits; it does nothing unless a device is free.
            self._supervisor.run_in_background()
