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


def test_the_bounds_give_the_numbers_beside_them() -> None:
    (block,) = [block for block in blocks("python") if "core.bounds" in block]
    calls = [line for line in block.splitlines() if "#" in line]
    assert calls
    for line in calls:
        expression, comment = line.split("#", 1)
        (expected,) = re.findall(r"(?:rank )?(\d+(?:\.\d+)?)(?= nats to spend|:| for a draw)", comment)
        found = eval(expression, {name: getattr(bounds, name) for name in bounds.__all__})
        assert found == pytest.approx(float(expected), abs=0.005), line


def test_the_fit_prints_what_stands_below_it() -> None:
    (block,) = [block for block in blocks("python") if "core.fit" in block]
    done = subprocess.run([sys.executable, "-c", block], capture_output=True, text=True, check=True)
    assert done.stdout in blocks("text")
