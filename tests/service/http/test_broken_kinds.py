"""A package whose kind cannot be loaded stops the API at its start, and not a request."""

import os
import subprocess
import sys
from pathlib import Path

from certiset.core.kinds import GROUPS
from tests.servers import free_port

STARTS = """
import sys
from certiset.service.cli.main import main

home, port, *folders = sys.argv[1:]
for folder in folders:
    sys.path.insert(0, folder)
    code = main(["api", "--home", home, "--port", port])
    print(f"exit code {code}", flush=True)
    sys.path.remove(folder)
"""
"""one after the other in one process: most of the time is spent on what does not break"""


def install_broken_kind(folder: Path, group: str) -> str:
    described = folder / "broken_kind-1.0.dist-info"
    described.mkdir(parents=True)
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-kind\nVersion: 1.0\n")
    (described / "entry_points.txt").write_text(f"[{group}]\nwobbly = missing_module:Wobbly\n")
    return str(folder)


def test_a_broken_kind_stops_the_api_with_a_sentence(tmp_path: Path) -> None:
    folders = [install_broken_kind(tmp_path / group, group) for group in GROUPS]
    done = subprocess.run(
        [sys.executable, "-P", "-c", STARTS, str(tmp_path / "home"), str(free_port()), *folders],
        env=os.environ,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.count("exit code 2\n") == len(GROUPS), done.stdout + done.stderr
    lines = done.stderr.splitlines()
    assert len(lines) == len(GROUPS), done.stderr
    for line, what in zip(lines, ("score", "set kind", "file format"), strict=True):
        for words in ("certiset api: ", what, "wobbly", "broken-kind", "missing_module"):
            assert words in line
