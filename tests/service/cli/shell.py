"""Commands as a user types them: in a process of their own, or, which is quicker, in this one."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from certiset.service.cli.main import main
from tests.forks import Forked
from tests.launcher import launch


class Shell:
    def __init__(self, environment: dict[str, str], folder: Path) -> None:
        self.environment, self.folder = environment, folder

    def start(self, *arguments: str) -> Forked:
        return launch(
            *("certiset", *arguments),
            env=self.environment,
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def __call__(self, *arguments: str, code: int = 0) -> str:
        """What it prints; where it fails, its complaint."""
        process = self.start(*arguments)
        output, errors = process.communicate(timeout=120)
        assert process.returncode == code, f"{arguments}: {output}{errors}"
        return errors if code not in (0, 1) else output

    def json(self, *arguments: str, code: int = 0) -> Any:
        return json.loads(self(*arguments, "--json", code=code))


class InProcess:
    """The same in this process, which is quicker."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys

    def __call__(self, *arguments: str, code: int = 0) -> str:
        """What it prints; where it fails, its complaint."""
        found = main(arguments)
        output, errors = self.capsys.readouterr()
        assert found == code, f"{arguments}: {output}{errors}"
        return errors if code else output

    def json(self, *arguments: str) -> Any:
        return json.loads(self(*arguments, "--json"))
