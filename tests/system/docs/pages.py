"""A page's code blocks, in order, each with the output that the page shows for it."""

import re
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).parents[3] / "docs"


@dataclass(frozen=True)
class Block:
    page: str
    line: int
    language: str
    """sh or python"""
    text: str
    shown: str | None
    """the text block right below, if there is one; … stands for anything"""

    @property
    def commands(self) -> list[str]:
        """The lines of a shell block, continued ones joined; comments that stand alone are left out."""
        lines = re.sub(r"\\\n\s*", "", self.text).splitlines()
        return [line for line in lines if line.strip() and not line.lstrip().startswith("#")]

    def check(self, found: str) -> None:
        if self.shown is not None:
            pattern = ".*?".join(re.escape(part) for part in re.split("…", self.shown.strip()))
            where = f"{self.page}:{self.line}"
            assert re.fullmatch(pattern, found.strip(), re.DOTALL), f"{where} shows\n{self.shown}\nbut gives\n{found}"


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text()
    found: list[Block] = []
    for match in re.finditer(r"^```(\w+)\n(.*?)^```\n(?:\n```text\n(.*?)^```$)?", text, re.DOTALL | re.MULTILINE):
        language, content, shown = match.groups()
        if language in ("sh", "python"):
            found.append(Block(page.name, text.count("\n", 0, match.start()) + 1, language, content, shown))
    return found


def languages_of(page: Path) -> set[str]:
    return set(re.findall(r"^```(\w+)$", page.read_text(), re.MULTILINE))
