"""Links between pages lead somewhere, and the index leaves no page out."""

import re
from pathlib import Path

import pytest

from tests.system.docs.pages import DOCS


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: str(page.relative_to(DOCS)))
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text()
    headings = {re.sub(r"[^\w -]", "", line.lower()).replace(" ", "-") for line in re.findall(r"^#+ (.*)$", text, re.M)}
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith("#"):
            assert target[1:] in headings, target
        elif not target.startswith("http"):
            assert (page.parent / target.partition("#")[0]).exists(), target


def test_the_index_names_every_page() -> None:
    index = (DOCS / "README.md").read_text()
    pages = [*DOCS.glob("*.md"), *(DOCS / "decisions").glob("*.md"), DOCS / "results" / "README.md"]
    left_out = [page for page in pages if page.name != "README.md" and f"({page.relative_to(DOCS)})" not in index]
    assert left_out == []
