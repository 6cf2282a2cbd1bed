"""Commands against the server of a deployment."""

import os
from pathlib import Path

import pytest

from tests.service.cli.shell import InProcess, Shell
from tests.service.server import Server


@pytest.fixture
def offline(tmp_path: Path) -> Shell:
    """Without any server."""
    return Shell({name: value for name, value in os.environ.items() if not name.startswith("CERTISET_")}, tmp_path)


@pytest.fixture
def shell(offline: Shell, deployment: Server) -> Shell:
    offline.environment |= {"CERTISET_URL": deployment.url, "CERTISET_KEY": deployment.keys["ada"]}
    return offline


@pytest.fixture
def certiset(deployment: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> InProcess:
    monkeypatch.setenv("CERTISET_URL", deployment.url)
    monkeypatch.setenv("CERTISET_KEY", deployment.keys["ada"])
    return InProcess(capsys)
