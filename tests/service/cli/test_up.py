"""One command: API and worker, started, kept alive and stopped together."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from certiset.service.processes import KeptRunning, ServiceError
from tests.forks import Forked
from tests.launcher import launch
from tests.servers import answers, children_of, free_port, name_of, wait_until
from tests.worker.deployment import alive, kill

Up = Forked | subprocess.Popen[str]


def start(home: Path, port: int, *, forked: bool = True) -> Up:
    """`certiset up`; forked, its processes are, too, and load nothing again."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CERTISET_")}
    command = ["certiset", "up", "--port", str(port), "--home", str(home), "--no-demo"]
    streams: dict[str, Any] = {"env": environment, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    if forked:
        return launch(*command, **streams, forking=True)
    return subprocess.Popen([sys.executable, "-m", *command], **streams, text=True)


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def worker_of(up: int) -> int | None:
    """A fork has the command of the process that it was forked from, and the name of its own module."""
    return next(
        (
            pid
            for pid in children_of(up)
            if name_of(pid) == "worker" or command_of(pid).rstrip().endswith("-m certiset.worker")
        ),
        None,
    )


def ready(up: Up, port: int) -> str:
    """What it has printed up to the line that it prints once, when the API answers."""
    printed: list[str] = []

    def read() -> None:
        assert up.stdout is not None
        for line in up.stdout:
            printed.append(line)
            if f"http://127.0.0.1:{port}." in line:
                return

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    reader.join(90)
    text = "".join(printed)
    assert not reader.is_alive(), f"no address after 90 seconds, only: {text}"
    assert f"certiset is at http://127.0.0.1:{port}. Ctrl-C stops it." in text
    return text


def test_up_starts_both_prints_the_key_once_and_stops_both(tmp_path: Path) -> None:
    printed = []
    for number in (signal.SIGINT, signal.SIGTERM):
        port = free_port()
        up = start(tmp_path, port)
        try:
            before = ready(up, port)
            assert answers(f"http://127.0.0.1:{port}")
            wait_until(lambda up=up: worker_of(up.pid) is not None, 120, "the worker")  # type: ignore[misc]
            children = children_of(up.pid)
            assert len(children) == 2
        finally:
            up.send_signal(number)
            after, _ = up.communicate(timeout=60)
        assert up.returncode == 0, before + after
        assert not any(alive(child) for child in children)
        printed.append(before + after)
    key = (tmp_path / "key").read_text().strip()
    assert key in printed[0]
    assert key not in printed[1]


def test_up_starts_a_worker_and_an_api_again_that_were_killed(tmp_path: Path) -> None:
    port = free_port()
    up = start(tmp_path, port, forked=False)
    try:
        ready(up, port)
        first = worker_of(up.pid)
        assert first is not None
        (api,) = (pid for pid in children_of(up.pid) if pid != first)
        kill(first, api)
        wait_until(lambda: worker_of(up.pid) not in (None, first), 120, "another worker")
        wait_until(lambda: answers(f"http://127.0.0.1:{port}"), 90, "another API")
    finally:
        up.send_signal(signal.SIGTERM)
        text, _ = up.communicate(timeout=60)
    assert up.returncode == 0
    assert "The worker stopped with exit code -9 and is started again in 1 s; see " in text
    assert "The API stopped with exit code -9 and is started again in 1 s; see " in text


def stepped(kept: KeptRunning, seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        kept.step()
        time.sleep(0.02)


def test_what_cannot_start_at_all_is_an_error_that_names_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("certiset.service.processes._FIRST_PAUSE_SECONDS", 0.05)
    kept = KeptRunning("API", ["-c", "raise SystemExit(3)"], tmp_path / "api.log", os.environ)
    with pytest.raises(ServiceError, match=r"The API stopped with exit code 3; see .*api\.log\."):
        stepped(kept, 60)
    # Twice it was tried again.
    assert capsys.readouterr().err.count("is started again in") == 2


def test_pauses_grow_up_to_a_longest_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("certiset.service.processes._FIRST_PAUSE_SECONDS", 0.1)
    monkeypatch.setattr("certiset.service.processes._LONGEST_PAUSE_SECONDS", 0.3)
    kept = KeptRunning("worker", ["-c", "raise SystemExit(0)"], tmp_path / "worker.log", os.environ)
    printed = ""

    def four_times() -> bool:
        nonlocal printed
        kept.step()
        printed += capsys.readouterr().err
        return printed.count("started again") >= 4

    wait_until(four_times, 60, "four restarts")
    kept.close()
    assert [line.split(" in ")[1].split(" s;")[0] for line in printed.splitlines()[:4]] == ["0.1", "0.2", "0.3", "0.3"]


def test_up_says_when_the_port_is_taken(tmp_path: Path) -> None:
    import socket  # noqa: PLC0415

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        up = start(tmp_path, port)
        text, _ = up.communicate(timeout=60)
    assert up.returncode == 2
    assert f"Cannot listen on port {port} of 127.0.0.1: Address already in use." in text
    assert "certiset is at" not in text
    assert "The first key" not in text
    assert list(tmp_path.iterdir()) == []
