"""What a worker does with a calibration: real processes, a real queue, a real database."""

import json
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
from tests.servers import children_of
from tests.worker.deployment import (
    ENDLESS,
    LONG,
    TENANT,
    Deployment,
    digest_of,
    every,
    kill,
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


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"alpha": 0.0001}, "leave n = 400 for calibration, too few"),
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
