"""One attempt at a calibration, from claim to end: the worker watches, the child fits, the database decides."""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from core.errors import first_line
from core.settings import Settings
from core.store import Store
from core.store.errors import TRANSIENT
from core.store.leases import Claim, Leases
from core.store.predictors import Outcome
from worker.child import ChildDiedError, FittingChild
from worker.devices import Slot, Slots
from worker.patience import OutOfReachError, patiently
from worker.progress import Publisher
from worker.protocol import Job

_log = logging.getLogger(__name__)

_JOBS_OF_A_CHILD = 100
"""then a fresh one takes over, so that nothing can leak for ever"""
_STOP_SECONDS = 3.0
"""a fit that was asked to stop and does not is killed"""
_END_SECONDS = 120.0
"""how long the end of an attempt is offered to a database that does not answer"""


@dataclass
class Supervisor:
    """Runs calibrations on the worker's devices."""

    settings: Settings
    store: Store
    slots: Slots
    publisher: Publisher
    announce: Callable[[str], bool]
    sign: Callable[[Outcome], Outcome]
    """puts the issuer's signature on a certificate; the fitting process does not have the key"""
    stopping: threading.Event = field(default_factory=threading.Event)
    """set when the worker shuts down: running fits are given back"""
    _children: dict[str, FittingChild] = field(default_factory=dict)
    _attempts: set["_Attempt"] = field(default_factory=set)
    _aside: list[threading.Thread] = field(default_factory=list)

    def __post_init__(self) -> None:
        threading.Thread(target=self._watch, name="watchdog", daemon=True).start()

    def run(self, calibration_id: str, wait: float = 60.0) -> bool:
        """Takes a device and the lease, if both are to be had, and works on the calibration until the attempt ends."""
        slot = self.slots.take(wait)
        if slot is None:
            return False
        try:
            if self.stopping.is_set():
                return False
            asked = time.monotonic()
            claim = self._claim(calibration_id)
            if claim is None:
                return False
            attempt = _Attempt(self, claim, slot, asked)
            self._attempts.add(attempt)
            try:
                attempt.run()
            finally:
                self._attempts.discard(attempt)
            return True
        finally:
            self.slots.put_back(slot)

    def warm_up(self) -> None:
        """Starts every device's fitting process before the first job comes."""
        slots = [slot for _ in range(self.slots.count) if (slot := self.slots.take(0.0)) is not None]
        for slot in slots:
            self.child(slot)
            self.slots.put_back(slot)

    def child(self, slot: Slot) -> FittingChild:
        """The device's fitting process, with the libraries loaded if it served before."""
        child = self._children.get(slot.name)
        if child is None or not child.alive or child.jobs >= _JOBS_OF_A_CHILD:
            self.drop_child(slot)
            child = self._children[slot.name] = FittingChild(slot)
        return child

    def drop_child(self, slot: Slot) -> None:
        child = self._children.pop(slot.name, None)
        if child is not None:
            child.kill()

    def run_aside(self, calibration_id: str) -> None:
        """The same without waiting for it, if a device is free."""
        self._aside = [thread for thread in self._aside if thread.is_alive()]
        thread = threading.Thread(target=self.run, args=(calibration_id, 0.0), daemon=True)
        self._aside.append(thread)
        thread.start()

    def close(self) -> None:
        for thread in self._aside:
            thread.join(timeout=_STOP_SECONDS)
        for child in list(self._children.values()):
            child.kill()

    def _watch(self) -> None:
        """Kills what goes on without a lease, even while its thread hangs in a call to the database."""
        while True:
            time.sleep(min(0.5, self.settings.lease_seconds / 10))
            for attempt in list(self._attempts):
                if time.monotonic() > attempt.renewed + self.settings.lease_seconds:
                    child = self._children.get(attempt.slot.name)
                    if child is not None and not attempt.ending:
                        _log.error("%s: the lease ran out, so the fit is killed", attempt.id)
                        child.kill()
                    attempt.ending = True

    def _claim(self, calibration_id: str) -> Claim | None:
        try:
            with self.store.writing() as work:
                return work.leases.claim(calibration_id)
        except TRANSIENT as error:
            # Its message may go: a job that nobody took is announced again.
            _log.warning("%s could not be claimed: %s", calibration_id, first_line(error))
            return None


class _Attempt:
    def __init__(self, supervisor: Supervisor, claim: Claim, slot: Slot, claimed: float) -> None:
        self.supervisor, self.claim, self.slot = supervisor, claim, slot
        self.settings = supervisor.settings
        self.id = claim.calibration.id
        self.started = self.renewed = claimed
        """when the lease was last asked for: it lasts at least so long from then"""
        self.stop_asked: float | None = None
        self.ending = False
        """the fit is over; what is left to do is to say so"""
        self.report: dict[str, Any] | None = None

    def run(self) -> None:
        _log.info("%s: attempt %d on %s", self.id, self.claim.calibration.attempts, self.slot.name)
        try:
            self._fit()
        except ChildDiedError as error:
            reason = str(error)
            self.supervisor.drop_child(self.slot)
            if self.supervisor.stopping.is_set():
                self._end("given back at shutdown", lambda leases: leases.release(self.claim), announce=True)
            else:
                self._end("given back", lambda leases: leases.give_back(self.claim, reason))
        except OutOfReachError:
            # The lease has run out, or soon will; whoever sweeps next puts the job back.
            self.supervisor.drop_child(self.slot)
            _log.error("%s: the database cannot be reached, so the attempt is dropped", self.id)
        except BaseException:
            self.supervisor.drop_child(self.slot)
            raise

    def _fit(self) -> None:
        child = self.supervisor.child(self.slot)
        child.start(self._job())
        while True:
            message = child.answer(wait=self._interval)
            if message is not None and "progress" not in message:
                self._ended(message)
                return
            if message is not None:
                self.report = message["progress"]
            if self._leave(child):
                return

    @property
    def _interval(self) -> float:
        """Often enough to renew the lease thrice in its time, and to see a cancellation within a second."""
        return min(1.0, self.settings.lease_seconds / 3)

    def _leave(self, child: FittingChild) -> bool:
        """Renews the lease and looks at everything that may end the attempt early."""
        now = time.monotonic()
        if self.stop_asked is not None:
            if now - self.stop_asked > _STOP_SECONDS:
                self.supervisor.drop_child(self.slot)
                self._ended({"stopped": True})
                return True
        elif self.supervisor.stopping.is_set():
            self.supervisor.drop_child(self.slot)
            self._end("given back at shutdown", lambda leases: leases.release(self.claim), announce=True)
            return True
        elif now - self.started > self.settings.fit_seconds:
            self.supervisor.drop_child(self.slot)
            reason = f"The fit took longer than the time limit of {self.settings.fit_seconds:g} seconds."
            self._end("over its time limit", lambda leases: leases.give_back(self.claim, reason))
            return True
        if now - self.renewed >= self._interval or self.report is not None:
            return self._renew(child)
        return False

    def _renew(self, child: FittingChild) -> bool:
        report, self.report = self.report, None
        deadline = self.renewed + self.settings.lease_seconds
        asked = time.monotonic()
        renewal = patiently(self.supervisor.store, deadline, lambda leases: leases.renew(self.claim, report))
        self.renewed = asked
        if report is not None:
            self.supervisor.publisher.publish(self.id, report)
        if not renewal.held:
            _log.warning("%s: the lease was lost, so the attempt is dropped", self.id)
            self.supervisor.drop_child(self.slot)
            return True
        if renewal.cancel_requested and self.stop_asked is None:
            self.stop_asked = time.monotonic()
            child.ask_to_stop(self.claim.owner)
        return False

    def _ended(self, message: dict[str, Any]) -> None:
        if "done" in message:
            outcome = self.supervisor.sign(Outcome(**message["done"]))
            self._end("succeeded", lambda leases: leases.succeed(self.claim, outcome))
        elif "stopped" in message:
            self._end("cancelled", lambda leases: leases.stop(self.claim))
        else:
            failure = message["failed"]
            _log.warning("%s: %s", self.id, failure["reason"])
            if failure["final"]:
                self._end("failed", lambda leases: leases.fail(self.claim, failure["reason"]))
            else:
                self._end("given back", lambda leases: leases.give_back(self.claim, failure["reason"]))

    def _end(self, what: str, step: Callable[[Leases], bool], *, announce: bool = False) -> None:
        """Written under the lease's word, so that it counts once, and only while nobody else has the job."""
        self.ending = True
        held = patiently(self.supervisor.store, time.monotonic() + _END_SECONDS, step)
        _log.info("%s: %s", self.id, what if held else f"not {what}, because the lease was lost")
        if held:
            self.supervisor.publisher.publish(self.id, {"attempt": "ended", "how": what})
        if held and announce:
            self.supervisor.announce(self.id)

    def _job(self) -> Job:
        calibration = self.claim.calibration
        return Job(
            attempt=self.claim.owner,
            artifacts_url=self.settings.artifacts,
            dataset_artifact=calibration.dataset_artifact,
            model_artifact=calibration.model_artifact,
            manifest=calibration.manifest,
            options=calibration.options,
            device=self.slot.device,
        )
