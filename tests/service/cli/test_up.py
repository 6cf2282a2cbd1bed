"""One command: API and worker, started, kept alive and stopped together."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import httpx

from tests.servers import children_of, free_port, wait_until
from tests.worker.deployment import alive, kill


def start(home: Path, port: int) -> subprocess.Popen[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CERTISET_")}
    command = [sys.executable, "-m", "certiset", "up", "--port", str(port), "--home", str(home), "--no-demo"]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def worker_of(up: int) -> int | None:
    return next((pid for pid in children_of(up) if command_of(pid).rstrip().endswith("-m certiset.worker")), None)


def ready(up: subprocess.Popen[str], port: int) -> str:
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
            assert httpx.get(f"http://127.0.0.1:{port}/healthz").status_code == 200
            wait_until(lambda up=up: worker_of(up.pid) is not None, 30, "the worker")  # type: ignore[misc]
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


def test_up_starts_a_worker_again_that_was_killed(tmp_path: Path) -> None:
    port = free_port()
    up = start(tmp_path, port)
    try:
        wait_until(lambda: worker_of(up.pid) is not None, 60, "the worker")
        first = worker_of(up.pid)
        assert first is not None
        kill(first)
        wait_until(lambda: worker_of(up.pid) not in (None, first), 30, "another worker")
    finally:
        up.send_signal(signal.SIGTERM)
        up.communicate(timeout=60)


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
