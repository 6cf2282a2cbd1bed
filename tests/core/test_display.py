"""Cards: what objects show of themselves in terminals and notebooks."""

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certiset.core.display import LINES, WIDTH, Card, Table, listed

HOSTILE = "<script>alert(1)</script>\" onload='x' \x1b[2J\n$\\href{javascript:alert(1)}{x}$\u202eevil"


class Tags(HTMLParser):
    """The tags and attributes that a browser would find."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.open: list[str] = []
        self.words = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data


def parsed(html: str) -> Tags:
    found = Tags()
    found.feed(html)
    found.close()
    assert found.open == []
    return found


def everywhere(word: str) -> Card:
    """A card that has the word in every place."""
    return Card(
        word,
        word,
        verdict=("bad", word),
        sentences=[word],
        caveats=[word],
        facts=[(word, word)],
        table=Table((word, word), [(word, word)], 3, folded=word),
    )


def test_strangers_words_become_no_part_of_a_page() -> None:
    found = parsed(everywhere(HOSTILE).html())
    plain = parsed(everywhere("word").html())
    assert found.tags == plain.tags
    assert found.attributes == plain.attributes
    assert found.words.count("<script>alert(1)</script>") == plain.words.count("word") > 0
    assert "\x1b" not in found.words
    assert "\u202e" not in found.words


def test_nothing_in_a_card_is_taken_for_a_formula() -> None:
    """Notebooks typeset what stands between dollars, and formulas can hold links."""
    assert everywhere(HOSTILE).html().startswith('<div class="certiset tex2jax_ignore mathjax_ignore"')


def test_strangers_words_neither_move_the_cursor_nor_begin_a_line() -> None:
    text = everywhere(HOSTILE).text()
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert text.count("\n") == everywhere(HOSTILE.replace("\n", "--")).text().count("\n")


@given(
    sentences=st.lists(st.text("ab ", max_size=900), max_size=4),
    caveats=st.lists(st.text("ab ", max_size=400), max_size=9),
    facts=st.integers(0, 40),
    rows=st.integers(0, 40),
    further=st.integers(0, 1000),
)
def test_a_card_never_takes_more_than_its_lines(
    sentences: list[str], caveats: list[str], facts: int, rows: int, further: int
) -> None:
    table = Table(("row", "set"), [("1", "x" * 200)] * rows, rows + further) if rows else None
    text = Card("title" * 40, "", None, sentences, caveats, [("name", "y" * 200)] * facts, table).text()
    lines = text.split("\n")
    assert len(lines) <= LINES
    assert max(map(len, lines)) <= WIDTH


def test_rows_without_room_are_counted() -> None:
    rows = [(str(place), "{a}") for place in range(30)]
    text = Card("30 sets", table=Table(("row", "set"), rows, 100)).text()
    shown = sum(line.strip().endswith("{a}") for line in text.split("\n"))
    assert text.endswith(f"and {100 - shown} more")
    assert shown > 10
    html = Card("30 sets", table=Table(("row", "set"), rows, 100)).html()
    assert "and 70 more" in html


@pytest.mark.parametrize("count", [1, 3, 4, 9])
def test_every_caveat_is_shown_or_counted(count: int) -> None:
    text = Card("title", caveats=[f"number {place}" for place in range(count)]).text()
    shown = text.count("Caveat: number")
    assert shown == count if count <= 3 else f"Caveats: {count - shown} more" in text
    html = Card("title", caveats=[f"number {place}" for place in range(count)]).html()
    assert html.count("<strong>Caveat:</strong>") == count


def test_many_words_are_counted() -> None:
    assert listed(["a", "b", "c"], most=2) == "a, b and 1 more"
    assert listed(["a", "b"], most=2) == "a, b"
