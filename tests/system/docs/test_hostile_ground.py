"""Every test that the pages on what was tried name exists, and is slow if and only if the page says so."""

import re

import pytest

from tests.slow import SLOW, is_in
from tests.system.docs.pages import DOCS

ROOT = DOCS.parent


@pytest.mark.parametrize("page", ["hostile-ground.md", "false-certificates.md"])
def test_every_test_exists_and_runs_where_the_page_says(page: str) -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`( \(slow)?", (DOCS / page).read_text())
    assert len(named) > 30
    for file, name, slow in named:
        source = (ROOT / file).read_text()
        assert f"def {name}(" in source if name else "def test_" in source, (file, name)
        assert is_in(f"{file}::{name}" if name else file, SLOW) == bool(slow), (file, name)
