"""Every test that docs/hostile-ground.md names exists, and is slow if and only if the page says so."""

import re

from tests.slow import SLOW, is_in
from tests.system.docs.pages import DOCS

ROOT = DOCS.parent
NAMED = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`( \(slow)?", (DOCS / "hostile-ground.md").read_text())


def test_every_test_exists_and_runs_where_the_page_says() -> None:
    assert len(NAMED) > 30
    for file, name, slow in NAMED:
        source = (ROOT / file).read_text()
        assert f"def {name}(" in source if name else "def test_" in source, (file, name)
        assert is_in(f"{file}::{name}" if name else file, SLOW) == bool(slow), (file, name)
