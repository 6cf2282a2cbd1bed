"""The worker's handle on a fitting process, and what it says about its end."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from certiset.core import landlock
from certiset.worker.devices import Slot
from certiset.worker.fitting_process import FittingProcess, FittingProcesses, ProcessEndedError
from certiset.worker.protocol import FitJob
from tests.servers import wait_until
from tests.worker.deployment import alive

SLOT = Slot("cpu", "cpu", {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""})
ARTIFACTS = "memory://"
SCRATCH = Path(tempfile.gettempdir()) / "certiset-test-work"
JOB = FitJob("word", "memory://", "0" * 64, "0" * 64, "0" * 64, {}, {}, "cpu", graph_memory=2**31, graph_seconds=10)


@pytest.fixture
def process() -> Iterator[FittingProcess]:
    started = FittingProcess(SLOT, ARTIFACTS, SCRATCH)
    yield started
    started.kill()


def ended(process: FittingProcess) -> str:
    with pytest.raises(ProcessEndedError) as caught:
        process.answer(wait=60)
    return str(caught.value)


def test_a_job_that_cannot_be_read_is_answered_with_a_failure(process: FittingProcess) -> None:
    process.start(JOB)
    answer = process.answer(wait=120)
    assert answer is not None
    assert answer["failed"]["final"] is True
    assert "is missing" in answer["failed"]["reason"]
    assert process.jobs == 1
    assert process.answer(wait=0.01) is None


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (signal.SIGKILL, "The fitting process was killed, most likely because memory ran out."),
        (signal.SIGSEGV, "The fitting process was killed by SIGSEGV."),
    ],
)
def test_the_cause_of_its_end_is_a_sentence(process: FittingProcess, number: signal.Signals, sentence: str) -> None:
    os.kill(process.pid, number)
    assert ended(process) == sentence
    assert not process.alive


def test_a_process_that_was_killed_takes_no_more_words(process: FittingProcess) -> None:
    process.kill()
    process.ask_to_stop("word")
    with pytest.raises(ProcessEndedError, match="The fitting process was killed"):
        process.start(JOB)


def test_it_writes_no_core_file(process: FittingProcess) -> None:
    limits = Path(f"/proc/{process.pid}/limits")
    if not limits.exists():
        pytest.skip("There is no /proc here.")

    def limited() -> bool:
        (line,) = (line for line in limits.read_text().splitlines() if line.startswith("Max core file size"))
        return line.split()[4:6] == ["0", "0"]

    wait_until(limited, 60, "the limit")


INTRUDER = """
import json, os, sys
def attempt(path):
    try:
        return open(path).read()
    except OSError as error:
        return type(error).__name__
paths = os.environ["TO_READ"].split(":")
print(json.dumps({"read": {path: attempt(path) for path in paths}, "environment": sorted(os.environ)}), flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(landlock.version() < 1, reason="this kernel has no Landlock")
def test_native_code_that_took_it_over_finds_neither_the_signing_key_nor_a_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, code = tmp_path / "home", tmp_path / "code"
    files = {name: home / name for name in ("signing.pem", "secret", "certiset.db", "artifacts/aa/data")}
    for file in files.values():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("content")
    code.mkdir()
    (code / "intruder.py").write_text(INTRUDER)
    monkeypatch.setenv("PYTHONPATH", str(code), prepend=os.pathsep)
    monkeypatch.setenv("TO_READ", ":".join(map(str, files.values())))
    secrets = {"CERTISET_DATABASE_URL", "CERTISET_BROKER_URL", "CERTISET_API_KEYS", "CERTISET_SECRET_FILE"}
    secrets |= {"PGPASSWORD", "PGPASSFILE", "REDIS_URL", "AWS_SECRET_ACCESS_KEY"}
    for name in secrets:
        monkeypatch.setenv(name, "a secret")
    monkeypatch.setattr("certiset.worker.fitting_process._RUNNER", "intruder")
    process = FittingProcess(SLOT, str(home / "artifacts"), home / "work")
    try:
        found = process.answer(wait=60)
    finally:
        process.kill()
    assert found is not None
    told = {name: found["read"][str(file)] for name, file in files.items()}
    assert told.pop("artifacts/aa/data") == "content"
    assert set(told.values()) == {"PermissionError"}
    assert "PATH" in found["environment"]
    assert secrets & set(found["environment"]) == set()


@pytest.mark.skipif(landlock.version() < 1, reason="this kernel has no Landlock")
def test_for_a_store_elsewhere_it_reads_the_credentials_and_nothing_beside_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets, code = tmp_path / "secrets", tmp_path / "code"
    files = {name: secrets / name for name in ("s3_credentials", "signing.pem")}
    for folder in (secrets, code):
        folder.mkdir()
    for file in files.values():
        file.write_text("content")
    (code / "intruder.py").write_text(INTRUDER)
    monkeypatch.setenv("PYTHONPATH", str(code), prepend=os.pathsep)
    monkeypatch.setenv("TO_READ", ":".join(map(str, files.values())))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(files["s3_credentials"]))
    monkeypatch.setattr("certiset.worker.fitting_process._RUNNER", "intruder")
    process = FittingProcess(SLOT, ARTIFACTS, SCRATCH)
    try:
        found = process.answer(wait=60)
    finally:
        process.kill()
    assert found is not None
    assert list(found["read"].values()) == ["content", "PermissionError"]
    assert "AWS_SHARED_CREDENTIALS_FILE" in found["environment"]


def test_each_device_has_one_process_until_it_has_done_its_jobs() -> None:
    processes = FittingProcesses(jobs_each=1, artifacts_url=ARTIFACTS, scratch=SCRATCH)
    first = processes.get(SLOT)
    assert processes.get(SLOT) is first
    first.start(JOB)
    second = processes.get(SLOT)
    assert second.pid != first.pid
    assert not alive(first.pid)
    processes.kill(SLOT)
    third = processes.get(SLOT)
    assert third.pid != second.pid
    processes.close()
    assert not alive(third.pid)


def test_the_worker_itself_runs_without_torch() -> None:
    """Torch and its threads belong to the fitting processes; the worker stays small."""
    program = "import certiset.worker.run, sys; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-P", "-c", program], check=False).returncode == 0
