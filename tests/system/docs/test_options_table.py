"""docs/choosing.md lists every option as it is defined."""

import subprocess
import sys

from tests.system.docs.pages import DOCS


def test_the_tables_are_current() -> None:
    command = [sys.executable, str(DOCS / "options_table.py"), "--check"]
    done = subprocess.run(command, cwd=DOCS.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
