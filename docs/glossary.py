"""Writes docs/glossary.md from the words that the dashboard explains: ``python docs/glossary.py``."""

import json
from pathlib import Path

PAGE = Path(__file__).parent / "glossary.md"
WORDS = Path(__file__).parents[1] / "service" / "static" / "glossary_words.js"
_HEAD = """# Glossary

The words as certificates and the dashboard use them, which explains the same words when they are pointed at. Made by
`docs/glossary.py` from `service/static/glossary_words.js`.

| word | meaning |
|---|---|
"""


def words() -> dict[str, str]:
    text = WORDS.read_text(encoding="utf-8")
    found: dict[str, str] = json.loads(text[text.index("{") : text.rindex("}") + 1])
    return found


def page() -> str:
    in_order = sorted(words().items(), key=lambda entry: entry[0].lower())
    return _HEAD + "".join(f"| **{word}** | {meaning} |\n" for word, meaning in in_order)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
