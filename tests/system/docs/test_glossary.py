"""docs/glossary.md and the dashboard explain the same words, from one file."""

import runpy

from tests.system.docs.pages import DOCS

STATIC = DOCS.parent / "service" / "static"


def test_the_page_is_current() -> None:
    glossary = runpy.run_path(str(DOCS / "glossary.py"))
    assert glossary["page"]() == (DOCS / "glossary.md").read_text(), "Run: python docs/glossary.py"
    words = glossary["words"]()
    assert {"alpha", "delta", "coverage", "pool", "tau"} <= set(words)
    assert all(meaning.endswith(".") for meaning in words.values())


def test_the_dashboard_takes_its_words_from_the_same_file() -> None:
    script = (STATIC / "glossary.js").read_text()
    assert 'import { GLOSSARY } from "/static/glossary_words.js";' in script
    assert "GLOSSARY = " not in script
