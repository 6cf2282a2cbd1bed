"""Random histories of workers, sweepers and users: the invariants hold in every one."""

import shutil
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from sqlalchemy import update

from certiset.core.resources import FINISHED
from certiset.core.settings import Settings
from certiset.core.store.clock import now
from certiset.core.store.leases import Claim
from certiset.core.store.records import Calibration
from tests.core.store.records import a_calibration, a_fit_result, state
from tests.databases import new_store

WORKERS = st.sampled_from(["first", "second", "third"])


class LeaseMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.store = new_store(Settings(home=self.folder, retry_seconds=0.001))
        self.calibration = a_calibration(self.store)
        self.claims: dict[str, Claim] = {}
        self.current: str | None = None
        """the worker whose claim is the latest and has neither ended nor run out"""
        self.successes = 0
        self.ended: str | None = None

    def teardown(self) -> None:
        self.store.close()
        shutil.rmtree(self.folder)

    @rule(worker=WORKERS)
    def take(self, worker: str) -> None:
        with self.store.writing() as work:
            work.session.execute(update(Calibration).values(not_before=now() - 1))
            claim = work.leases.claim(self.calibration.id)
        if claim is not None:
            assert self.current is None, "two workers hold the same calibration"
            assert self.ended is None, "a finished calibration was taken again"
            self.claims[worker], self.current = claim, worker

    @rule(worker=WORKERS, how=st.sampled_from(["succeed", "fail", "requeue", "release", "stop"]))
    def end(self, worker: str, how: str) -> None:
        claim = self.claims.get(worker)
        if claim is None:
            return
        with self.store.writing() as work:
            leases = work.leases
            written = {
                "succeed": lambda: leases.succeed(claim, a_fit_result()),
                "fail": lambda: leases.fail(claim, "Reason."),
                "requeue": lambda: leases.requeue(claim, "Reason."),
                "release": lambda: leases.release(claim),
                "stop": lambda: leases.stop(claim),
            }[how]()
        assert written == (worker == self.current), "only the holder of the lease may write, and it may"
        if written:
            self.current = None
            self.successes += how == "succeed"

    @rule(worker=WORKERS)
    def report(self, worker: str) -> None:
        claim = self.claims.get(worker)
        if claim is not None:
            with self.store.writing() as work:
                assert work.leases.renew(claim, {"phase": "fit"}).held == (worker == self.current)

    @precondition(lambda self: self.current is not None)
    @rule()
    def lease_runs_out(self) -> None:
        with self.store.writing() as work:
            work.session.execute(update(Calibration).values(lease_until=now() - 1))
            work.leases.sweep(60)
        self.current = None

    @rule()
    def sweep(self) -> None:
        with self.store.writing() as work:
            work.leases.sweep(60)

    @rule()
    def cancel(self) -> None:
        with self.store.writing() as work:
            work.calibrations.cancel(self.calibration.id)

    @invariant()
    def holds(self) -> None:
        found = state(self.store, self.calibration)
        assert found.attempts <= 3
        assert (found.status == "running") == (self.current is not None)
        assert not (found.status == "queued" and found.cancel_requested), "a cancelled calibration waits to be fitted"
        assert self.successes == (found.status == "succeeded")
        if self.ended is not None:
            assert found.status == self.ended, "a finished calibration changed"
        if found.status in FINISHED:
            self.ended = found.status
        with self.store.reading() as work:
            assert len(work.predictors.list("ada").items) == self.successes


TestLeaseMachine = LeaseMachine.TestCase
TestLeaseMachine.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
