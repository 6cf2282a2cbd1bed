"""A package whose kind cannot be loaded stops the API at its start, and not a request."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers import free_port


@pytest.mark.parametrize("group", ["certiset.scores", "certiset.sets", "certiset.formats"])
def test_a_broken_kind_stops_the_api_with_a_sentence(tmp_path: Path, group: str) -> None:
    described = tmp_path / "packages" / "broken_kind-1.0.dist-info"
    described.mkdir(parents=True)
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-kind\nVersion: 1.0\n")
    (described / "entry_points.txt").write_text(f"[{group}]\nwobbly = missing_module:Wobbly\n")
    command = [sys.executable, "-P", "-m", "certiset", "api"]
    done = subprocess.run(
        [*command, "--home", str(tmp_path / "home"), "--port", str(free_port())],
        env={**os.environ, "PYTHONPATH": str(described.parent)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    (line,) = done.stderr.splitlines()
    for words in ("certiset api: ", "wobbly", "broken-kind", "missing_module"):
        assert words in line
