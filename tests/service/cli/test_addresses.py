"""Addresses that cannot be listened on are refused at once, with a sentence."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from certiset.service.processes import ServiceError, require_free


def certiset(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "certiset", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize(("command", "port"), [("up", "99999"), ("api", "0"), ("demo", "eight")])
def test_a_port_that_is_none(command: str, port: str, tmp_path: Path) -> None:
    done = certiset(command, f"--port={port}", "--home", str(tmp_path))
    assert done.returncode == 2
    assert f"a port is a whole number from 1 to 65535, not '{port}'" in done.stderr


@pytest.mark.parametrize("command", ["up", "api"])
def test_a_port_that_is_taken(command: str, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = certiset(command, "--port", str(port), "--home", str(tmp_path))
    assert done.returncode == 2
    assert f"Cannot listen on port {port} of 127.0.0.1: Address already in use." in done.stderr
    assert "certiset is at" not in done.stdout


def test_a_host_that_is_none() -> None:
    with pytest.raises(ServiceError, match=r"Cannot listen on port 8000 of 999\.1\.1\.1"):
        require_free("999.1.1.1", 8000)


def test_a_home_that_cannot_be(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("in the way")
    done = certiset("up", "--home", str(file / "home"))
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "cannot be used: Not a directory." in done.stderr
