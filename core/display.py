"""How an object shows itself to whoever asks for it in a terminal or a notebook: the same card, as text or as HTML.

A card is made of words and numbers, and both ways to show it treat every word as a stranger's: names of classes and of
models come from users, and must neither move a cursor nor become part of a page.
"""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal, TypeAlias

WIDTH = 100
LINES = 20
_SENTENCES = 8
"""lines of a terminal that sentences may take"""
_CAVEATS = 6
"""lines that caveats may take: at least two each"""
_TABLE = 5
"""lines that are kept for a table, where there is one"""
_CELL = 60
_HTML_CELL = 300
_PLAIN = 'class="certiset tex2jax_ignore mathjax_ignore" style="max-width: 60em; line-height: 1.4"'
"""nothing in a card is a formula, whatever signs a name has"""
_CELL_STYLE = 'style="text-align: left; padding: 0.1em 1em 0.1em 0"'
_HEAD_STYLE = _CELL_STYLE[:-1] + '; white-space: nowrap"'
Tone: TypeAlias = Literal["good", "caveat", "bad"]
_COLOURS: dict[Tone, str] = {"good": "42, 157, 116", "caveat": "217, 116, 43", "bad": "201, 70, 61"}
"""of borders, and, thinned out, of the ground: they stand out on light and dark pages alike"""


@dataclass(frozen=True)
class Table:
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    total: int
    """of which ``rows`` are shown"""
    folded: str | None = None
    """the words that unfold it in a notebook; in a terminal such a table is left out"""


@dataclass(frozen=True)
class Card:
    title: str
    beside: str = ""
    """what stands behind the title, less loud"""
    verdict: tuple[Tone, str] | None = None
    sentences: Sequence[str] = ()
    caveats: Sequence[str] = ()
    facts: Sequence[tuple[str, str]] = ()
    table: Table | None = None

    def text(self) -> str:
        """At most LINES lines; what has no room there is counted or ends in dots."""
        title = _line(f"{self.title}, {self.beside}" if self.beside else self.title, WIDTH)
        said = [*([self.verdict[1]] if self.verdict is not None else []), *self.sentences]
        sentences = _cut([line for sentence in said for line in _wrapped(sentence)], _SENTENCES)
        caveats = self._caveat_lines()
        room = LINES - 1 - len(sentences) - len(caveats)
        table = self.table if self.table is not None and self.table.folded is None else None
        names = max((len(name) for name, _ in self.facts), default=0)
        facts = [_line(f"  {name:<{names}}  {value}", WIDTH) for name, value in self.facts]
        facts = facts[: room if table is None else max(0, room - min(_TABLE, len(table.rows) + 1))]
        lines = [title, *sentences, *caveats, *facts]
        return "\n".join([*lines, *([] if table is None else _table_lines(table, LINES - len(lines)))])

    def html(self) -> str:
        beside = f' <span style="opacity: 0.75">{_safe(self.beside)}</span>' if self.beside else ""
        parts = [f'<p style="margin: 0 0 0.4em"><strong>{_safe(self.title)}</strong>{beside}</p>']
        if self.verdict is not None:
            parts.append(_box(self.verdict[0], f"<strong>{_safe(self.verdict[1])}</strong>"))
        parts += [f'<p style="margin: 0 0 0.4em">{_safe(sentence)}</p>' for sentence in self.sentences]
        parts += [_box("caveat", f"<strong>Caveat:</strong> {_safe(caveat)}") for caveat in self.caveats]
        if self.facts:
            parts.append(_html_table((), self.facts))
        if self.table is not None:
            shown = _html_table(self.table.heads, self.table.rows)
            if len(self.table.rows) < self.table.total:
                shown += f'<p style="margin: 0 0 0.4em">and {self.table.total - len(self.table.rows)} more</p>'
            folded = self.table.folded
            parts.append(shown if folded is None else f"<details><summary>{_safe(folded)}</summary>{shown}</details>")
        return f"<div {_PLAIN}>{''.join(parts)}</div>"

    def _caveat_lines(self) -> list[str]:
        shown = len(self.caveats) if 2 * len(self.caveats) <= _CAVEATS else _CAVEATS // 2 - 1
        room, left = _CAVEATS // max(1, shown), len(self.caveats) - shown
        each = [_cut(_wrapped(f"Caveat: {caveat}", "  "), room if not left else 2) for caveat in self.caveats[:shown]]
        more = [f"Caveats: {left} more"] if left else []
        return [line for lines in each for line in lines] + more


class Shown:
    """Shows its card: in a terminal as text, in a notebook as HTML."""

    def card(self) -> Card:
        raise NotImplementedError

    def __repr__(self) -> str:
        return self.card().text()

    def __str__(self) -> str:
        return repr(self)

    def _repr_html_(self) -> str:
        return self.card().html()


def harmless(text: str) -> str:
    """A line of text that strangers wrote, which must not move the cursor, hide what follows or begin another line."""
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


def listed(words: Sequence[str], most: int = 12) -> str:
    """Words in one line, the first of them where there are many."""
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return ", ".join(words[:most]) + more


def shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _line(text: str, most: int) -> str:
    return shortened(harmless(text).rstrip(), most)


def _wrapped(sentence: str, further: str = "") -> list[str]:
    return textwrap.wrap(harmless(sentence), WIDTH, subsequent_indent=further)


def _cut(lines: list[str], most: int) -> list[str]:
    return lines if len(lines) <= most else [*lines[: most - 1], shortened(f"{lines[most - 1]} …", WIDTH)]


def _table_lines(table: Table, room: int) -> list[str]:
    rows = list(table.rows)
    if len(rows) < table.total or len(rows) + 1 > room:
        rows = rows[: max(0, room - 2)]
    cells = [[_line(cell, _CELL) for cell in row] for row in [table.heads, *rows]]
    wide = [max(len(row[column]) for row in cells) for column in range(len(table.heads))]
    lines = [
        shortened("  " + "  ".join(f"{cell:<{w}}" for cell, w in zip(row, wide, strict=True)).rstrip(), WIDTH)
        for row in cells
    ]
    return lines if len(rows) == table.total else [*lines, f"  and {table.total - len(rows)} more"]


def _safe(text: str) -> str:
    return escape(harmless(text))


def _box(tone: Tone, content: str) -> str:
    colour = _COLOURS[tone]
    return (
        f'<p style="margin: 0 0 0.4em; padding: 0.2em 0.6em; border-left: 4px solid rgb({colour}); '
        f'background: rgba({colour}, 0.14)">{content}</p>'
    )


def _html_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Without heads, the first cell of each row says what the second one is."""
    top = "".join(f'<th scope="col" {_CELL_STYLE}>{_safe(head)}</th>' for head in heads)
    lines = []
    for first, *others in rows:
        begin = (
            f"<td {_CELL_STYLE}>{_cell(first)}</td>" if heads else f'<th scope="row" {_HEAD_STYLE}>{_cell(first)}</th>'
        )
        lines.append(f"<tr>{begin}{''.join(f'<td {_CELL_STYLE}>{_cell(cell)}</td>' for cell in others)}</tr>")
    head = f"<thead><tr>{top}</tr></thead>" if heads else ""
    return f'<table style="font-size: inherit">{head}<tbody>{"".join(lines)}</tbody></table>'


def _cell(text: str) -> str:
    return _safe(shortened(text, _HTML_CELL))
