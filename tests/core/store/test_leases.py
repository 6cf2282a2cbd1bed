"""Two workers never hold the same calibration, whatever happens to either."""

from concurrent.futures import ThreadPoolExecutor

from certiset.core.store import Store
from certiset.core.store.audit import WORKER, AuditFilter
from certiset.core.store.clock import now
from certiset.core.store.records import Calibration
from tests.core.store.claims import age, age_in, claim, claimed, sweep
from tests.core.store.records import a_calibration, a_fit_result, state


def test_of_many_workers_exactly_one_gets_a_calibration(store: Store) -> None:
    calibration = a_calibration(store)
    with ThreadPoolExecutor(8) as pool:
        claims = list(pool.map(lambda _: claim(store, calibration), range(24)))
    assert sum(found is not None for found in claims) == 1
    assert state(store, calibration).attempts == 1


def test_a_message_that_arrives_twice_does_nothing_the_second_time(store: Store) -> None:
    calibration = a_calibration(store)
    first = claimed(store, calibration)
    assert claim(store, calibration) is None
    with store.writing() as work:
        assert work.leases.succeed(first, a_fit_result())
    assert claim(store, calibration) is None
    assert state(store, calibration).attempts == 1


def test_an_unknown_calibration_is_not_claimed(store: Store) -> None:
    with store.writing() as work:
        assert work.leases.claim("cal-unknown") is None


def test_a_lease_that_ran_out_is_given_to_another_and_the_first_can_change_nothing(store: Store) -> None:
    calibration = a_calibration(store)
    lost = claimed(store, calibration)
    age(store, calibration, "lease_until", 31)
    assert sweep(store) == [calibration.id]
    second = claimed(store, calibration)
    assert second.calibration.attempts == 2
    with store.writing() as work:
        assert not work.leases.renew(lost, {"phase": "fit"}).held
        assert not work.leases.succeed(lost, a_fit_result("late"))
        assert not work.leases.fail(lost, "late")
        assert not work.leases.requeue(lost, "late")
        assert not work.leases.release(lost)
        assert not work.leases.stop(lost)
        assert work.predictors.list("ada").items == []
    found = state(store, calibration)
    assert (found.status, found.progress) == ("running", None)
    with store.writing() as work:
        assert work.leases.succeed(second, a_fit_result())


def test_a_lease_that_is_renewed_does_not_run_out(store: Store) -> None:
    calibration = a_calibration(store)
    held = claimed(store, calibration)
    age(store, calibration, "lease_until", 29)
    with store.writing() as work:
        assert work.leases.renew(held).held
    age(store, calibration, "lease_until", 29)
    assert sweep(store) == []
    assert state(store, calibration).status == "running"


def test_three_lost_leases_are_a_failure_with_a_reason(store: Store) -> None:
    calibration = a_calibration(store)
    for attempt in (1, 2, 3):
        assert claimed(store, calibration).calibration.attempts == attempt
        age(store, calibration, "lease_until", 31)
        assert sweep(store) == ([calibration.id] if attempt < 3 else [])
    found = state(store, calibration)
    assert found.status == "failed"
    assert found.error is not None
    assert "disappeared" in found.error
    assert found.error.endswith("It was tried 3 times.")
    assert found.finished_at is not None


def test_how_a_calibration_ended_is_in_the_audit_log_once(store: Store) -> None:
    """Whether a fit said so, or a sweep found that the last worker is gone."""
    done, refused, crashed, lost, stopped = (a_calibration(store) for _ in range(5))
    worker = store.acting_for(WORKER)
    held = {job.id: claimed(store, job) for job in (done, refused, stopped)}
    for _ in range(2):
        with worker.writing() as work:
            work.leases.succeed(held[done.id], a_fit_result())
            work.leases.fail(held[refused.id], "The data are too few.")
            work.leases.stop(held[stopped.id])
    for attempt in range(3):
        claim, _ = claimed(store, crashed), claimed(store, lost)
        with worker.writing() as work:
            work.leases.requeue(claim, "The fitting process was killed.")
        age(store, crashed, "not_before", 1000)
        age(store, lost, "lease_until", 31)
        assert log(store) == {done.id: "calibration.succeed", refused.id: "calibration.fail"} | (
            {} if attempt < 2 else {crashed.id: "calibration.fail"}
        )
        with worker.writing() as work:
            work.leases.sweep(60)
    assert log(store)[lost.id] == "calibration.fail"
    with store.reading() as work:
        rows = work.audit.list(AuditFilter(tenant="ada")).items
    assert len(rows) == 4
    assert {(row.user, row.object_kind, row.result) for row in rows} == {("worker", "calibration", "ok")}
    assert [row.details for row in rows if row.object_id == done.id] == [{"certificate_id": "cert-1"}]


def log(store: Store) -> dict[str | None, str]:
    """What the audit log says of each calibration."""
    with store.reading() as work:
        return {row.object_id: row.action for row in work.audit.list(AuditFilter(tenant="ada")).items}


def test_a_failed_attempt_waits_twice_as_long_each_time_and_is_then_announced(store: Store) -> None:
    calibration = a_calibration(store)
    for pause in (100, 200):
        attempt = claimed(store, calibration)
        with store.writing() as work:
            assert work.leases.requeue(attempt, "It broke.")
        assert claim(store, calibration) is None
        assert sweep(store) == []
        age(store, calibration, "not_before", pause - 3)
        assert sweep(store) == []
        age(store, calibration, "not_before", 4)
        age(store, calibration, "announced_at", 10)
        assert sweep(store) == [calibration.id]
    assert state(store, calibration).error == "It broke."
    last = claimed(store, calibration)
    with store.writing() as work:
        assert work.leases.requeue(last, "It broke.")
    assert state(store, calibration).error == "It broke. It was tried 3 times."


def test_a_lost_message_is_sent_again_by_one_sweeper_only(store: Store) -> None:
    calibration = a_calibration(store)
    assert sweep(store) == []
    age(store, calibration, "announced_at", 61)
    age(store, calibration, "not_before", 61)
    with ThreadPoolExecutor(4) as pool:
        announced = list(pool.map(lambda _: sweep(store), range(8)))
    assert sorted(map(len, announced)) == [0] * 7 + [1]


def test_a_job_that_nobody_takes_is_overdue(store: Store) -> None:
    calibration = a_calibration(store)
    with store.reading() as work:
        assert work.leases.overdue(60) == []
    age(store, calibration, "not_before", 61)
    with store.reading() as work:
        assert work.leases.overdue(60) == [calibration.id]


def test_the_job_of_a_worker_that_shuts_down_is_requeued_without_counting_the_attempt(store: Store) -> None:
    calibration = a_calibration(store)
    held = claimed(store, calibration)
    with store.writing() as work:
        assert work.leases.release(held)
    again = claimed(store, calibration)
    assert again.calibration.attempts == 1


def test_messages_of_a_job_that_waits_for_long_do_not_pile_up(store: Store) -> None:
    calibration = a_calibration(store)
    sent = 0
    for _ in range(24 * 12):  # a day, swept every five minutes
        with store.writing() as work:
            age_in(work, calibration, "announced_at", 300)
            age_in(work, calibration, "not_before", 300)
            sent += len(work.leases.sweep(message_seconds=30).announced)
    assert 6 <= sent <= 35


def test_a_reason_that_cannot_be_stored_as_it_is_is_stored_readably(store: Store) -> None:
    calibration = a_calibration(store, name="n\x00m" * 200)
    held = claimed(store, calibration)
    with store.writing() as work:
        assert work.leases.fail(held, "It broke\x00 at \ud800 " + "x" * 5000)
    found = state(store, calibration)
    assert found.error is not None
    assert found.error.startswith("It broke  at   xxx")
    assert len(found.error) == 2000
    assert len(found.name) == 200


def test_a_failed_job_can_be_tried_again_with_all_its_attempts(store: Store) -> None:
    calibration = a_calibration(store)
    held = claimed(store, calibration)
    with store.writing() as work:
        work.leases.fail(held, "The data are wrong.")
    with store.writing() as work:
        again = work.calibrations.retry(calibration.id)
    assert (again.status, again.attempts, again.error, again.finished_at) == ("queued", 0, None, None)
    assert claimed(store, calibration).calibration.attempts == 1


def test_equal_fits_share_one_predictor(store: Store) -> None:
    """Ids are made of content, so that a second equal fit finds its predictor there."""
    first, second = a_calibration(store), a_calibration(store)
    for calibration in (first, second):
        held = claimed(store, calibration)
        with store.writing() as work:
            assert work.leases.succeed(held, a_fit_result())
    with store.reading() as work:
        assert [found.calibration_id for found in work.predictors.list("ada").items] == [first.id]
    assert state(store, second).predictor_id == "pred-1"


def test_the_lease_is_kept_by_the_databases_clock(store: Store) -> None:
    calibration = a_calibration(store)
    claimed(store, calibration)
    found = state(store, calibration)
    with store.reading() as work:
        left = work.session.scalar(Calibration.__table__.select().with_only_columns(found.lease_until - now()))
    assert left is not None
    assert 28 < left <= 30
