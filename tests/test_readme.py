"""What README.md shows is what a user gets."""

import re
import shlex
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import httpx
import numpy as np
import pytest

from core import bounds
from tests.servers import free_port, missing, wait_until

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


def test_the_commands_over_http_lead_to_a_set(tmp_path: Path) -> None:
    """Run as they stand, in an empty folder; only ids and the port are filled in."""
    if shutil.which("curl") is None:
        missing("The program curl is not installed.")
    start, calls = (block for block in blocks("sh") if "certiset up" in block or "/predict_set" in block)
    port = str(free_port())
    programs = Path(sys.executable).parent
    rng = np.random.default_rng(0)
    y = rng.integers(10, size=1000)
    np.savez(tmp_path / "calibration.npz", x=3.0 * np.eye(10)[y] + rng.normal(size=(1000, 10)), y=y)
    servers = []
    for line in start.splitlines():
        words = shlex.split(line, comments=True)
        command = [str(programs / Path(words[0]).name), *[word for word in words[1:] if word != "&"]]
        if command[1] == "up":
            command += ["--port", port]
        log = (tmp_path / f"{command[1]}.log").open("wb")
        with log:
            servers.append(subprocess.Popen(command, cwd=tmp_path, stdout=log, stderr=log))
    try:
        wait_until((tmp_path / "var" / "key").exists, 60, "the first key")
        wait_until(partial(answers, port), 60, "the server")
        known: dict[str, str] = {}
        setting, *commands = calls.replace(":8000", f":{port}").splitlines()
        for shown in commands:
            filled = shown
            for kind, id in known.items():
                filled = filled.replace(f"{kind}-…", id)
            assert "…" not in filled, filled
            done = subprocess.run(
                ["bash", "-c", f"{setting}\n{filled}"], cwd=tmp_path, capture_output=True, text=True, check=True
            )
            known |= {id.split("-")[0]: id for id in re.findall(r"\b(?:ds|mod|cal|pred)-[0-9a-z]+", done.stdout)}
        assert '"kind": "labels", "labels": [2' in done.stdout
        assert f"var/key: {(tmp_path / 'var' / 'key').read_text().strip()}" in (tmp_path / "up.log").read_text()
    finally:
        for server in servers:
            server.terminate()
        for server in servers:
            server.wait(timeout=30)


def answers(port: str) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/healthz").status_code == 200
    except httpx.TransportError:
        return False
