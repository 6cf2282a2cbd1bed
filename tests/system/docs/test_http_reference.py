"""docs/http.md is what the service's OpenAPI document says."""

import subprocess
import sys

from tests.system.docs.pages import DOCS


def test_the_reference_is_current() -> None:
    command = [sys.executable, str(DOCS / "http_reference.py")]
    done = subprocess.run(command, cwd=DOCS.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == (DOCS / "http.md").read_text(), "Run: python docs/http_reference.py > docs/http.md"
