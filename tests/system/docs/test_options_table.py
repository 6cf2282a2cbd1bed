"""docs/choosing.md lists every option as it is defined."""

import runpy

from tests.system.docs.pages import DOCS


def test_the_tables_are_current() -> None:
    page = runpy.run_path(str(DOCS / "options_table.py"))["page"]
    assert page() == (DOCS / "choosing.md").read_text(), "Run: python docs/options_table.py"
