"""Whoever cancels a job ends it, wherever it is."""

from certiset.core.store import Store
from tests.core.store.claims import age, claim, claimed, sweep
from tests.core.store.records import a_calibration, a_fit_result, state


def test_cancelling_ends_a_queued_job_at_once(store: Store) -> None:
    calibration = a_calibration(store)
    with store.writing() as work:
        assert work.calibrations.cancel(calibration.id).status == "cancelled"
    assert claim(store, calibration) is None
    assert state(store, calibration).finished_at is not None


def test_cancelling_asks_a_running_job_and_leaves_a_finished_one(store: Store) -> None:
    calibration = a_calibration(store)
    held = claimed(store, calibration)
    with store.writing() as work:
        assert work.calibrations.cancel(calibration.id).status == "running"
        assert work.leases.renew(held).cancel_requested
        assert work.leases.stop(held)
    assert state(store, calibration).status == "cancelled"
    with store.writing() as work:
        assert work.calibrations.cancel(calibration.id).status == "cancelled"


def test_a_finished_job_stays_finished_when_cancelled(store: Store) -> None:
    calibration = a_calibration(store)
    held = claimed(store, calibration)
    with store.writing() as work:
        work.leases.succeed(held, a_fit_result())
    with store.writing() as work:
        found = work.calibrations.cancel(calibration.id)
    assert (found.status, found.cancel_requested) == ("succeeded", False)


def test_a_cancelled_job_whose_worker_died_ends_cancelled_and_is_not_tried_again(store: Store) -> None:
    calibration = a_calibration(store)
    claimed(store, calibration)
    with store.writing() as work:
        work.calibrations.cancel(calibration.id)
    age(store, calibration, "lease_until", 31)
    assert sweep(store) == []
    found = state(store, calibration)
    assert (found.status, found.error) == ("cancelled", None)


def test_a_cancelled_job_whose_worker_shuts_down_ends_cancelled(store: Store) -> None:
    calibration = a_calibration(store)
    held = claimed(store, calibration)
    with store.writing() as work:
        work.calibrations.cancel(calibration.id)
        assert work.leases.release(held)
    found = state(store, calibration)
    assert found.status == "cancelled"
    assert found.finished_at is not None
