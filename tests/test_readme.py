"""What README.md shows is what a user gets."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from core import bounds

README = (Path(__file__).parent.parent / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def test_the_budget_table_is_what_the_command_prints() -> None:
    (command,) = [line for block in blocks("sh") for line in block.splitlines() if "certiset budget" in line]
    arguments = shlex.split(command)[1:]
    done = subprocess.run([sys.executable, "-m", "service", *arguments], capture_output=True, text=True, check=True)
    assert done.stdout in blocks("text")


def test_the_python_lines_give_the_numbers_beside_them() -> None:
    calls = [line for block in blocks("python") for line in block.splitlines() if "#" in line]
    assert calls
    for line in calls:
        expression, comment = line.split("#", 1)
        (expected,) = re.findall(r"(?:rank )?(\d+(?:\.\d+)?)(?= nats to spend|:| for a draw)", comment)
        found = eval(expression, {name: getattr(bounds, name) for name in bounds.__all__})
        assert found == pytest.approx(float(expected), abs=0.005), line
