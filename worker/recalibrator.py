"""Every worker looks after deployments: blocks of outcomes that have ended are calibrated on, and names switched.

In a thread of its own: a block's rows are written and read as any data set's are, which may take seconds, and the
sweeper must not be late meanwhile.
"""

import logging
import threading
import time

from certiset.core.errors import CertisetError, StoreError, first_line
from certiset.core.jobs.recalibration import advance_deployments, forget_collected
from certiset.core.store.errors import driver_message
from certiset.worker.context import WorkerContext

_log = logging.getLogger(__name__)
_FORGET_SECONDS = 600.0


class Recalibrator:
    def __init__(self, context: WorkerContext) -> None:
        self._context = context
        self._next_forgetting = 0.0

    def start(self) -> None:
        threading.Thread(target=self._loop, name="recalibrator", daemon=True).start()

    def _loop(self) -> None:
        while not self._context.stopping.wait(self._context.settings.sweep_seconds):
            try:
                self.step()
            except StoreError as error:
                _log.warning("Deployments are looked after later: %s", driver_message(error))
            except (CertisetError, OSError) as error:
                _log.warning("Deployments are looked after later: %s", first_line(error))
            except Exception:
                _log.exception("Looking after deployments failed with an unexpected error")

    def step(self) -> None:
        advance_deployments(self._context.store, self._context.announce)
        if time.monotonic() > self._next_forgetting:
            self._next_forgetting = time.monotonic() + _FORGET_SECONDS
            removed = forget_collected(self._context.store)
            if removed:
                _log.info("%d collected rows were too old and were deleted", removed)
