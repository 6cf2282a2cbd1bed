"""What a worker does with a calibration: real processes, a real queue, a real database."""

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from certiset.core.certificate import Account, Certificate
from certiset.core.store.audit import AuditFilter
from certiset.core.store.records import Calibration
from certiset.service.cli.main import main
from certiset.worker.fit_runner import REPORT_SECONDS
from tests.core.fit.problems import QUICK
from tests.servers import children_of, wait_until
from tests.worker.deployment import (
    ENDLESS,
    LONG,
    PATIENCE,
    TENANT,
    Deployment,
    alive,
    digest_of,
    every,
    kill,
    seconds_of,
    undisturbed_digest,
)


def test_a_calibration_ends_with_the_members_and_certificate_of_a_fit_without_any_worker(
    running: Deployment,
) -> None:
    before = running.predictors
    ended = running.wait(running.submit(seed=3))
    assert (ended.status, ended.attempts, ended.error) == ("succeeded", 1, None)
    assert digest_of(running, ended) == undisturbed_digest(QUICK, seed=3)
    assert ended.progress == {"phase": "done", "step": 1, "steps": 1, "fraction": 1.0, "metrics": {}}
    with running.store.reading() as work:
        assert ended.predictor_id is not None
        predictor = work.predictors.get(TENANT, ended.predictor_id)
        (entry,) = work.audit.list(AuditFilter(object_id=ended.id)).items
    assert (predictor.task, predictor.certificate_id) == ("regression", ended.certificate_id)
    assert (entry.action, entry.user) == ("calibration.succeed", "worker")
    assert entry.details == {"certificate_id": ended.certificate_id}
    running.assert_nothing_left_over(predictors=before + 1)


def test_a_message_that_comes_three_times_is_one_fit(deployment: Deployment) -> None:
    calibration = deployment.submit(LONG)
    deployment.announcer.announce(calibration.id)
    deployment.start_worker()
    deployment.start_worker()
    deployment.wait(calibration)
    deployment.announcer.announce(calibration.id)
    deployment.wait(deployment.submit(seed=1))
    assert deployment.state(calibration).attempts == 1


def test_a_lost_message_is_only_late(running: Deployment) -> None:
    assert running.wait(running.submit(announce=False, seed=11)).status == "succeeded"


def test_a_message_for_nothing_and_a_message_that_is_nonsense_do_no_harm(running: Deployment) -> None:
    running.announcer.announce("cal-unknown")
    running.announcer.announce({"not": ["an", "id"]})  # type: ignore[arg-type]
    assert running.wait(running.submit(seed=12)).status == "succeeded"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"alpha": 0.0001}, "leave n = 200 for calibration, too few"),
        ({"score": {"kind": "aps"}}, "score aps is for classification"),
        ({"nonsense": 1}, "nonsense is not an option"),
    ],
)
def test_a_job_that_cannot_succeed_fails_at_once_with_the_reason(
    running: Deployment, options: dict[str, Any], words: str
) -> None:
    ended = running.wait(running.submit(**options))
    assert (ended.status, ended.attempts) == ("failed", 1)
    assert ended.error is not None
    assert words in ended.error


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


def test_a_job_that_always_crashes_fails_after_three_attempts_with_a_reason(running: Deployment) -> None:
    worker = running.workers[0]
    calibration = running.submit(ENDLESS)

    def crash() -> None:
        if running.state(calibration).progress is not None:
            kill(*children_of(worker.pid))

    with every(0.1, crash):
        ended = running.wait(calibration)
    assert (ended.status, ended.attempts) == ("failed", 3)
    assert ended.error == ("The fitting process was killed, most likely because memory ran out. It was tried 3 times.")
    with running.store.reading() as work:
        died = work.audit.list(AuditFilter(object_id=ended.id, action="calibration.process_died")).items
    assert [entry.details for entry in died] == [{"attempt": 3}, {"attempt": 2}, {"attempt": 1}]
    assert worker.poll() is None
    assert running.wait(running.submit(seed=15)).status == "succeeded"


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


def test_a_tenant_does_not_wait_behind_all_that_another_has_queued(deployment: Deployment) -> None:
    """One device, and messages in the order of the requests: the message of the last one is behind all others."""
    greedy = [deployment.submit(seed=seed) for seed in range(12)]
    victim = deployment.submit(tenant="victim")
    deployment.start_worker()
    assert deployment.wait(victim, seconds=3 * PATIENCE).status == "succeeded"
    assert sum(deployment.state(job).finished_at is not None for job in greedy) <= 2


def test_a_message_wakes_a_worker_whatever_it_names(deployment: Deployment) -> None:
    deployment.start_worker(certiset_message_seconds=1000)
    calibration = deployment.submit(announce=False)
    deployment.announcer.announce("cal-deleted")
    assert deployment.wait(calibration).status == "succeeded"


def test_one_message_is_enough_for_all_that_is_queued(deployment: Deployment) -> None:
    jobs = [deployment.submit(announce=False, seed=seed) for seed in range(3)]
    deployment.start_worker(certiset_message_seconds=1000)
    deployment.announcer.announce(jobs[0].id)
    assert {deployment.wait(job).status for job in jobs} == {"succeeded"}


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


@pytest.mark.parametrize("which", ["dataset", "model"])
def test_a_damaged_artifact_fails_the_job_and_names_the_file(running: Deployment, which: str) -> None:
    record = running.dataset if which == "dataset" else running.model
    file = _file(running, record.artifact)
    whole = file.read_bytes()
    content = bytearray(whole)
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    try:
        ended = running.wait(running.submit())
    finally:
        file.write_bytes(whole)
    assert (ended.status, ended.attempts) == ("failed", 1)
    assert ended.error is not None
    assert f"{record.artifact} is damaged" in ended.error


def test_progress_comes_at_most_five_times_a_second_and_never_goes_back(running: Deployment) -> None:
    calibration = running.submit({**ENDLESS, "prior": {"steps": 1000}})
    seen: list[Calibration] = []
    while not seen or seen[-1].finished_at is None:
        found = running.state(calibration)
        if not seen or (found.reports, found.status) != (seen[-1].reports, seen[-1].status):
            seen.append(found)
        time.sleep(0.02)
    last = seen[-1]
    assert last.status == "succeeded"
    assert last.finished_at is not None
    assert last.started_at is not None
    assert 3 <= last.reports <= (last.finished_at - last.started_at) / REPORT_SECONDS + 1
    reports = [found.progress for found in seen if found.status == "running" and found.progress]
    fractions = [report["fraction"] for report in reports]
    assert fractions == sorted(fractions)
    assert {"phase", "step", "steps", "fraction", "metrics"} == set(reports[0])
    assert any("loss" in report["metrics"] for report in reports)


def test_jobs_watch_shows_a_live_bar_until_the_end(
    running: Deployment, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in running.settings.to_environment().items():
        monkeypatch.setenv(name, value)
    calibration = running.submit(LONG)
    assert main(["jobs", "watch", calibration.id]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any("[" in line and "%" in line and "step" in line for line in lines)
    assert lines[-1] == f"{calibration.id}  succeeded  {running.state(calibration).certificate_id}"
    doomed = running.submit(nonsense=1)
    assert main(["jobs", "watch", doomed.id, "--json"]) == 1
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert last["status"] == "failed"
    assert main(["jobs", "retry", doomed.id]) == 0
    capsys.readouterr()
    assert running.wait(doomed, "failed").attempts == 1
    assert main(["jobs", "list", "--status", "succeeded", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert {job["status"] for job in listed} == {"succeeded"}
    assert calibration.id in [job["id"] for job in listed]
    assert doomed.id not in [job["id"] for job in listed]


def test_two_workers_share_the_work(deployment: Deployment) -> None:
    for _ in range(2):
        # Long leases: both start at once, and a slow machine must not take a job away from either.
        deployment.start_worker(certiset_lease_seconds=30)
    jobs = [deployment.submit(seed=seed) for seed in range(8)]
    assert {deployment.wait(job).status for job in jobs} == {"succeeded"}
    assert {deployment.state(job).attempts for job in jobs} == {1}
    deployment.assert_nothing_left_over(predictors=8)


def test_equal_calibrations_at_the_same_time_end_in_one_predictor(deployment: Deployment) -> None:
    for _ in range(2):
        deployment.start_worker()
    jobs = [deployment.submit() for _ in range(6)]
    ended = [deployment.wait(job) for job in jobs]
    assert {job.status for job in ended} == {"succeeded"}
    assert len({job.predictor_id for job in ended}) == 1
    deployment.assert_nothing_left_over(predictors=1)


def _file(deployment: Deployment, name: str) -> Path:
    root = Path(deployment.settings.artifacts.removeprefix("file://"))
    return root / name[:2] / name


def test_every_fit_on_the_same_rows_says_which_attempt_it_was(running: Deployment) -> None:
    """What fails before it begins does not count; what is cancelled while it runs does."""

    def account(calibration: Calibration) -> Account:
        assert calibration.certificate_id is not None, calibration.error
        with running.store.reading() as work:
            found = Certificate.from_json(work.certificates.get(TENANT, calibration.certificate_id).document)
        assert found.verify().valid
        assert found.signature is not None
        assert found.account is not None
        return found.account

    first = running.wait(running.submit(seed=21))
    assert digest_of(running, first) == undisturbed_digest(QUICK, seed=21), "equal fits stay equal"
    assert running.wait(running.submit(alpha=0.0001)).status == "failed"
    endless = running.submit(ENDLESS)
    running.wait_until_fitting(endless)
    with running.store.writing() as work:
        work.calibrations.cancel(endless.id)
    running.wait(endless)
    last = account(running.wait(running.submit(seed=22, family=4)))
    assert (last.attempt, last.family) == (account(first).attempt + 2, 4)
    assert last.delta_all == pytest.approx(account(first).delta_all + 0.05 + 0.05 / 4)
    with running.store.reading() as work:
        assert first.predictor_id is not None
        assert work.attempts.so_far(TENANT, first.predictor_id) == last.attempt
