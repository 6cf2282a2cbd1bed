"""Fits are stopped: cancelled, too long, hanging, or because their worker ends."""

import os
import signal

import pytest

from certiset.core.store.audit import AuditFilter
from certiset.service.cli.main import main
from tests.servers import children_of, wait_until
from tests.worker.deployment import (
    ENDLESS,
    Deployment,
    alive,
    kill,
    seconds_of,
)


def test_cancel_while_queued(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in deployment.settings.to_environment().items():
        monkeypatch.setenv(name, value)
    calibration = deployment.submit()
    assert main(["jobs", "cancel", calibration.id]) == 0
    assert deployment.state(calibration).status == "cancelled"
    deployment.start_worker()
    deployment.wait(deployment.submit(seed=1))
    found = deployment.state(calibration)
    assert (found.status, found.attempts) == ("cancelled", 0)


def test_cancel_while_running_stops_the_fit_within_five_seconds(running: Deployment) -> None:
    worker = running.workers[0]
    before = running.predictors
    calibration = running.submit(ENDLESS)
    running.wait_until_fitting(calibration)
    (child,) = children_of(worker.pid)

    def cancelled() -> None:
        with running.store.writing() as work:
            assert work.calibrations.cancel(calibration.id).status == "running"
        assert running.wait(calibration).status == "cancelled"

    assert seconds_of(cancelled) < 5
    # The same fitting process goes on to the next job: it was asked, not killed.
    assert running.wait(running.submit(seed=13)).status == "succeeded"
    assert children_of(worker.pid) == [child]
    running.assert_nothing_left_over(predictors=before + 1)


def test_cancel_when_finished_changes_nothing(running: Deployment) -> None:
    calibration = running.submit(seed=14)
    running.wait(calibration)
    with running.store.writing() as work:
        work.calibrations.cancel(calibration.id)
    assert running.state(calibration).status == "succeeded"


def test_a_hanging_fit_is_cancelled_by_force(running: Deployment) -> None:
    """A stopped process stands for native code that never returns."""
    worker = running.workers[0]
    calibration = running.submit(ENDLESS)
    running.wait_until_fitting(calibration)
    (child,) = children_of(worker.pid)
    os.kill(child, signal.SIGSTOP)
    with running.store.writing() as work:
        work.calibrations.cancel(calibration.id)
    assert seconds_of(lambda: running.wait(calibration)) < 5
    assert running.state(calibration).status == "cancelled"
    assert not alive(child)


def test_a_job_over_its_time_limit_fails_at_once_and_is_not_tried_again(deployment: Deployment) -> None:
    deployment.start_worker(certiset_fit_seconds=1.5, certiset_lease_seconds=30)
    ended = deployment.wait(deployment.submit(ENDLESS))
    assert (ended.status, ended.attempts) == ("failed", 1)
    assert ended.error is not None
    assert ended.error.startswith("The fit took longer than the time limit of 1.5 seconds: choose fewer steps")
    with deployment.store.reading() as work:
        assert [entry.action for entry in work.audit.list(AuditFilter(object_id=ended.id)).items] == [
            "calibration.fail"
        ]


def test_the_job_of_a_worker_that_is_told_to_stop_is_requeued_uncounted(deployment: Deployment) -> None:
    deployment.start_worker()
    calibration = deployment.submit(ENDLESS)
    deployment.wait_until_fitting(calibration)
    assert seconds_of(deployment.stop_workers) < 8
    found = deployment.state(calibration)
    assert (found.status, found.attempts) == ("queued", 0)
    deployment.start_worker()
    deployment.wait_until_fitting(calibration)
    assert deployment.state(calibration).attempts == 1


def test_a_fitting_process_ends_when_its_worker_is_killed(deployment: Deployment) -> None:
    worker = deployment.start_worker()
    deployment.wait_until_fitting(deployment.submit(ENDLESS))
    (child,) = children_of(worker.pid)
    kill(worker.pid)
    wait_until(lambda: not alive(child), 5, "the child to end")
