"""Addresses that cannot be listened on are refused at once, with a sentence."""

import socket
from pathlib import Path

import pytest

from certiset.service.processes import ServiceError, require_free
from tests.service.cli.shell import Shell


@pytest.mark.parametrize(("command", "port"), [("up", "99999"), ("api", "0"), ("demo", "eight")])
def test_a_port_that_is_none(offline: Shell, command: str, port: str, tmp_path: Path) -> None:
    errors = offline(command, f"--port={port}", "--home", str(tmp_path), code=2)
    assert f"a port is a whole number from 1 to 65535, not '{port}'" in errors


@pytest.mark.parametrize("command", ["up", "api"])
def test_a_port_that_is_taken(offline: Shell, command: str, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        process = offline.start(command, "--port", str(port), "--home", str(tmp_path))
        output, errors = process.communicate(timeout=60)
    assert process.returncode == 2
    assert f"Cannot listen on port {port} of 127.0.0.1: Address already in use." in errors
    assert "certiset is at" not in output


def test_a_host_that_is_none() -> None:
    with pytest.raises(ServiceError, match=r"Cannot listen on port 8000 of 999\.1\.1\.1"):
        require_free("999.1.1.1", 8000)


def test_a_home_that_cannot_be(offline: Shell, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("in the way")
    errors = offline("up", "--home", str(file / "home"), code=2)
    assert "Traceback" not in errors
    assert "cannot be used: Not a directory." in errors
