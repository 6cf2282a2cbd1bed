"""Every message that certiset raises on purpose: collected from the source, and held to what a reader can act on."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FORBIDDEN = (
    r"\bpydantic\b",
    r"\bTypeError\b",
    r"\bValueError\b",
    r"\bKeyError\b",
    r"\bAttributeError\b",
    r"\bValidationError\b",
    r"\bNoneType\b",
    r"\bregex\b",
    r"\bpattern\b",
    r"\bkwargs\b",
    r"\btraceback\b",
    r"\bndarray\b",
    r"\bsqlalchemy\b",
    r"\bindex out of\b",
    r"\bunexpected error\b",
    r"\bplease\b",
    r"!$",
)
"""words of the machinery, which say nothing to a user, and manners"""
_ERROR = re.compile(r"(?:Error|_refuse|refuse|_error|_refused)$")
_FEWEST = 400


def messages() -> Iterator[tuple[str, str]]:
    """Where each stands, and its text with … for what is filled in."""
    for folder in ("core", "service", "worker", "src/certiset"):
        for file in sorted((ROOT / folder).glob("**/*.py" if folder != "src/certiset" else "*.py")):
            for node in ast.walk(ast.parse(file.read_text())):
                if isinstance(node, ast.Call) and _ERROR.search(_name(node.func)):
                    for argument in node.args:
                        text = _text(argument)
                        if text is not None and " " in text:
                            yield f"{file.relative_to(ROOT)}:{node.lineno}", text


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _text(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) or "…" for part in node.values)
    return None


ALL = list(messages())


def test_the_list_is_whole() -> None:
    assert len(ALL) >= _FEWEST


@pytest.mark.parametrize("word", FORBIDDEN)
def test_no_message_has_a_word_of_the_machinery(word: str) -> None:
    assert [(place, text) for place, text in ALL if re.search(word, text, re.IGNORECASE)] == []


def test_rows_are_counted_from_one_and_called_rows() -> None:
    assert [(place, text) for place, text in ALL if re.search(r"\b(?:index|row index|sample) …", text)] == []
