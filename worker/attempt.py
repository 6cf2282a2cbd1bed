"""One attempt at a job, from claim to end: the worker watches, its process computes, the database decides."""

import logging
import time
from collections.abc import Callable
from typing import Any

from certiset.core.errors import (
    ArtifactsUnavailableError,
    DamagedCertificateError,
    NotFoundError,
    StoreError,
    StoreFullError,
)
from certiset.core.store.batch_records import BatchRecord
from certiset.core.store.errors import driver_message
from certiset.core.store.leases import Claim
from certiset.core.store.store import Transaction
from certiset.worker.batch_work import BatchWork
from certiset.worker.context import WorkerContext
from certiset.worker.devices import Slot
from certiset.worker.fit_work import FitWork
from certiset.worker.fitting_process import FittingProcess, ProcessEndedError
from certiset.worker.retry import with_retries

_log = logging.getLogger(__name__)

STOP_SECONDS = 3.0
"""a job that was asked to stop and does not is killed"""
_END_SECONDS = 120.0
"""how long a worker keeps trying to write the end of an attempt while the database is unavailable"""


class Attempt:
    def __init__(self, context: WorkerContext, claim: Claim, slot: Slot, claimed: float) -> None:
        self.id = claim.job.id
        self.slot = slot
        self.renewed = claimed
        """when the lease was last requested: it lasts at least ``lease_seconds`` from then"""
        self.ending = False
        """the job is over; only its end remains to be written"""
        self._context, self._claim, self._started = context, claim, claimed
        self._settings = context.settings
        self._stop_asked: float | None = None
        self._report: dict[str, Any] | None = None

    def run(self) -> None:
        _log.info("%s: attempt %d on %s", self.id, self._claim.job.attempts, self.slot.name)
        try:
            self._run()
        except ProcessEndedError as error:
            self._drop_process()
            if self._context.stopping.is_set():
                self._release()
            else:
                self._requeue(str(error), process_died=True)
        except StoreError as error:
            # The lease has expired or soon will; the next sweep requeues the job.
            self._drop_process()
            _log.error("%s: the attempt is dropped: %s", self.id, driver_message(error))
        except BaseException:
            self._drop_process()
            raise

    def _run(self) -> None:
        kind: type[FitWork | BatchWork] = BatchWork if isinstance(self._claim.job, BatchRecord) else FitWork
        self._work = kind(self._context, self._claim)
        try:
            job = self._work.job(self.slot.device)
        except (StoreFullError, ArtifactsUnavailableError) as error:
            # The database still answers, and says why.
            self._requeue(str(error))
            return
        except (NotFoundError, DamagedCertificateError) as error:
            self._fail(str(error))
            return
        process = self._context.processes.get(self.slot)
        process.start(job)
        while True:
            message = process.answer(wait=self._interval)
            if message is not None and "rows" in message:
                self._work.begin(message["rows"], self.renewed + self._settings.lease_seconds)
            elif message is not None and "progress" in message:
                self._report = message["progress"]
            elif message is not None:
                self._ended(message)
                return
            if self._leave(process):
                return

    @property
    def _interval(self) -> float:
        """Often enough to renew the lease three times per lease and to notice a cancellation within a second."""
        return min(1.0, self._settings.lease_seconds / 3)

    def _leave(self, process: FittingProcess) -> bool:
        """Renews the lease and checks everything that may end the attempt early."""
        now = time.monotonic()
        if self._stop_asked is not None:
            if now - self._stop_asked > STOP_SECONDS:
                self._drop_process()
                self._ended({"stopped": True})
                return True
        elif self._context.stopping.is_set():
            self._drop_process()
            self._release()
            return True
        elif now - self._started > self._settings.fit_seconds:
            self._drop_process()
            # Another attempt would take as long.
            self._fail(
                f"The {self._work.noun} took longer than the time limit of {self._settings.fit_seconds:g} seconds: "
                f"{self._work.too_long}."
            )
            return True
        if now - self.renewed >= self._interval or self._report is not None:
            return self._renew(process)
        return False

    def _renew(self, process: FittingProcess) -> bool:
        report, self._report = self._report, None
        deadline = self.renewed + self._settings.lease_seconds
        asked = time.monotonic()
        renewal = with_retries(self._context.store, deadline, lambda work: work.leases.renew(self._claim, report))
        self.renewed = asked
        if not renewal.held:
            _log.warning("%s: the lease was lost, so the attempt is dropped", self.id)
            self._drop_process()
            return True
        if renewal.cancel_requested and self._stop_asked is None:
            self._stop_asked = time.monotonic()
            process.ask_to_stop(self._claim.owner)
        return False

    def _ended(self, message: dict[str, Any]) -> None:
        if "done" in message:
            self._end("ended", self._work.succeed(message["done"]))
        elif "stopped" in message:
            self._end("cancelled", lambda work: work.leases.stop(self._claim))
        elif message["failed"]["final"]:
            self._fail(message["failed"]["reason"])
        else:
            self._requeue(message["failed"]["reason"])

    def _fail(self, reason: str) -> None:
        _log.warning("%s: %s", self.id, reason)
        self._end("failed", lambda work: work.leases.fail(self._claim, reason))

    def _requeue(self, reason: str, *, process_died: bool = False) -> None:
        """Requeues the job for another attempt, unless this was the last one."""
        _log.warning("%s: %s", self.id, reason)
        self._end("requeued", lambda work: work.leases.requeue(self._claim, reason, process_died=process_died))

    def _release(self) -> None:
        if self._end("requeued at shutdown", lambda work: work.leases.release(self._claim)):
            self._context.announce(self.id)

    def _end(self, how: str, step: Callable[[Transaction], bool]) -> bool:
        """Written under the lease token, so that it counts once and only while no other worker has the job."""
        self.ending = True
        held = with_retries(self._context.store, time.monotonic() + _END_SECONDS, step)
        _log.info("%s: %s", self.id, how if held else f"not {how}, because the lease was lost")
        return held

    def _drop_process(self) -> None:
        self._context.processes.drop(self.slot)
