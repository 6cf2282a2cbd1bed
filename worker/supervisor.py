"""Runs calibrations on the worker's devices, one at a time on each."""

import logging
import threading
import time

from certiset.core.errors import StoreError
from certiset.core.store.errors import driver_message
from certiset.core.store.leases import Claim
from certiset.worker.attempt import STOP_SECONDS, Attempt
from certiset.worker.context import WorkerContext
from certiset.worker.devices import Slots

_log = logging.getLogger(__name__)


class Supervisor:
    def __init__(self, context: WorkerContext, slots: Slots) -> None:
        self._context, self._slots = context, slots
        self._attempts: set[Attempt] = set()
        self._threads: list[threading.Thread] = []
        threading.Thread(target=self._watch, name="watchdog", daemon=True).start()

    def run(self, wait: float = 60.0) -> None:
        """Takes a device, if one is free in time, and works on one calibration after the other, as their turns come.

        Until none is left that may begin: a message that found a quota used up is gone, but whoever uses it comes
        back here.
        """
        slot = self._slots.take(wait)
        if slot is None:
            return
        try:
            while not self._context.stopping.is_set():
                asked = time.monotonic()
                claim = self._claim()
                if claim is None:
                    return
                attempt = Attempt(self._context, claim, slot, asked)
                self._attempts.add(attempt)
                try:
                    attempt.run()
                finally:
                    self._attempts.discard(attempt)
        finally:
            self._slots.put_back(slot)

    def run_in_background(self) -> None:
        """The same in another thread on each device that is free."""
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        for _ in range(self._slots.count):
            thread = threading.Thread(target=self.run, args=(0.0,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def warm_up(self) -> None:
        """Starts every device's fitting process before the first job arrives."""
        slots = [slot for _ in range(self._slots.count) if (slot := self._slots.take(0.0)) is not None]
        for slot in slots:
            self._context.processes.get(slot)
            self._slots.put_back(slot)

    def close(self) -> None:
        for thread in self._threads:
            thread.join(timeout=STOP_SECONDS)
        self._context.processes.close()

    def _watch(self) -> None:
        """Kills fits whose lease has expired, even while their thread hangs in a database call."""
        lease_seconds = self._context.settings.lease_seconds
        while True:
            time.sleep(min(0.5, lease_seconds / 10))
            for attempt in list(self._attempts):
                if time.monotonic() > attempt.renewed + lease_seconds:
                    if not attempt.ending:
                        _log.error("%s: the lease expired, so the fit is killed", attempt.id)
                        self._context.processes.kill(attempt.slot)
                    attempt.ending = True

    def _claim(self) -> Claim | None:
        try:
            with self._context.store.writing() as work:
                return work.turns.claim()
        except StoreError as error:
            # The message may be lost: a job that nobody has taken is announced again.
            _log.warning("No calibration could be claimed: %s", driver_message(error))
            return None
