"""The pages for those who come from another library: both sides run, in the environment that has that library."""

import subprocess
from pathlib import Path

import pytest

from benchmarks.evidence.peers.environments import environment_of, process_environment, python_of
from tests.servers import missing
from tests.system.docs.pages import DOCS, blocks_of

LIBRARIES = {"from-mapie.md": "MAPIE", "from-crepes.md": "crepes"}
_MARK = "--- the next block ---"


@pytest.mark.parametrize("page", LIBRARIES)
def test_both_sides_do_the_same_task(page: str, tmp_path: Path) -> None:
    """The blocks of a page are one program, and each prints what the page shows."""
    told = environment_of(tmp_path, LIBRARIES[page])
    python = python_of(tmp_path, LIBRARIES[page])
    if python is None:
        missing(f"{LIBRARIES[page]} is {told}")
    blocks = blocks_of(DOCS / page)
    assert len(blocks) >= 5
    program = f"print({_MARK!r})\n".join(block.text for block in blocks)
    done = subprocess.run(
        [python, "-c", program], cwd=tmp_path, env=process_environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    printed = done.stdout.split(f"{_MARK}\n")
    for block, found in zip(blocks, printed, strict=True):
        block.check(found)
