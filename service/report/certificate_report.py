"""The page for a certificate: what is promised, about what, under which conditions, and how to check it."""

import hashlib
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from certiset.core.certificate import Certificate
from certiset.core.certificate.rounding import at_most, promise
from certiset.core.certificate.size_cap import cut_of
from certiset.service.report.advice import with_advice
from certiset.service.report.fonts import BOLD, REGULAR, Font, wrapped
from certiset.service.report.pdf import BLACK, HEIGHT, WIDTH, Colour, Page

_MARGIN = 44.0
_ROOM = WIDTH - 2 * _MARGIN
_BLUE: Colour = (0.09, 0.37, 0.66)
_GREY: Colour = (0.33, 0.36, 0.4)
_AMBER: Colour = (0.99, 0.94, 0.84)
_BROWN: Colour = (0.48, 0.29, 0.0)
_RED: Colour = (0.64, 0.15, 0.11)
_SCALES = (1.0, 0.94, 0.88, 0.82, 0.76, 0.7, 0.64)
_ROWS = (24, 16, 10, 6, 3)
"""of a table: so many are shown, or fewer, until the page has room for the rest"""
_HASH = 16


def report(document: str, status: str, checks: tuple[int, int]) -> bytes:
    """The page for a certificate as it was issued, in letters as large as the page allows.

    ``checks``: how many were made, and how many hold.
    """
    certificate, file_hash = Certificate.from_json(document), short_hash(document)
    for rows, scale in itertools.product(_ROWS, _SCALES):
        writer = _Writer(Page(), scale, rows)
        if _write(writer, certificate, file_hash, status, checks) <= HEIGHT - _MARGIN:
            break
    return writer.page.to_bytes(f"Certificate {certificate.id}", _date(certificate.issued_at))


def short_hash(document: str) -> str:
    """The beginning of what `sha256sum` says about the certificate's file."""
    return hashlib.sha256(document.encode()).hexdigest()[:_HASH]


@dataclass
class _Writer:
    """Writes from top to bottom."""

    page: Page
    scale: float
    rows: int
    y: float = _MARGIN

    def paragraph(
        self, text: str, font: Font = REGULAR, size: float = 9.5, colour: Colour = BLACK, *, x: float = _MARGIN
    ) -> None:
        size *= self.scale
        for line in wrapped(text, font, size, WIDTH - _MARGIN - x):
            self.y += size * 1.32
            self.page.text(x, self.y, line, font, size, colour)

    def heading(self, text: str) -> None:
        self.y += 9 * self.scale
        self.page.line(_MARGIN, self.y, WIDTH - _MARGIN, (0.8, 0.82, 0.85))
        self.y += 3 * self.scale
        self.paragraph(text, BOLD, 11)
        self.y += 2 * self.scale

    def boxed(self, text: str, ground: Colour, colour: Colour) -> None:
        size, pad = 9.5 * self.scale, 5 * self.scale
        lines = wrapped(text, REGULAR, size, _ROOM - 2 * pad)
        self.page.box(_MARGIN, self.y + 3, _ROOM, len(lines) * size * 1.32 + 2 * pad, ground)
        self.y += pad
        for line in lines:
            self.y += size * 1.32
            self.page.text(_MARGIN + pad, self.y, line, REGULAR, size, colour)
        self.y += pad + 3

    def pairs(self, rows: list[tuple[str, str]]) -> None:
        for name, value in rows:
            before = self.y
            self.paragraph(name, size=9, colour=_GREY)
            self.y = before
            self.paragraph(value, size=9, x=_MARGIN + 90)

    def table(self, heads: list[str], rows: list[list[str]]) -> None:
        """Without columns in which nothing stands."""
        told = [place for place in range(len(heads)) if any(row[place] != "-" for row in rows)]
        heads, rows = [heads[place] for place in told], [[row[place] for place in told] for row in rows]
        size = 8.5 * self.scale
        wide = _ROOM / len(heads)
        for font, cells in [(BOLD, heads), *((REGULAR, row) for row in rows[: self.rows])]:
            self.y += size * 1.35
            for place, cell in enumerate(cells):
                shown = wrapped(cell, font, size, wide - 4)[:1]
                self.page.text(_MARGIN + place * wide, self.y, shown[0] if shown else "", font, size)
        if len(rows) > self.rows:
            self.paragraph(f"and {len(rows) - self.rows} more, which the certificate has", size=8.5, colour=_GREY)


def _write(writer: _Writer, certificate: Certificate, file_hash: str, status: str, checks: tuple[int, int]) -> float:
    """How far down it comes."""
    writer.paragraph("Certificate", BOLD, 18)
    writer.paragraph(f"{certificate.id}, issued {certificate.issued_at}, short hash {file_hash}", size=9)
    if status != "consistent":
        writer.y += 4
        said = {
            "contradicted": "Reported outcomes contradict this certificate: do not rely on it.",
            "withdrawn": "The predictor was deleted and is no longer served.",
        }
        writer.boxed(said.get(status, status), (0.98, 0.9, 0.89), _RED)
    writer.y += 5
    writer.paragraph(certificate.statement, size=12)
    if certificate.size_statement:
        writer.y += 3
        writer.paragraph(certificate.size_statement)
    _strip(writer, certificate.coverage.pool_miscoverage_bound)
    for part in _PARTS:
        part(writer, certificate)
    writer.heading("How to check it")
    made, held = checks
    writer.paragraph(
        f"{held} of {made} checks hold, recomputed when this page was made. Ask the issuer for the file "
        f"{certificate.id}.json and for the public key, and run: certiset verify {certificate.id}.json --key KEY. "
        "The short hash above is the beginning of that file's SHA-256.",
        size=8.5,
    )
    return writer.y


def _strip(writer: _Writer, missed: float) -> None:
    covered = math.floor(100 * (1 - missed) + 1e-9)
    side = 8.4 * writer.scale
    top = writer.y + 8
    for place in range(100):
        x, y = _MARGIN + (place % 50) * (side + 1.4), top + place // 50 * (side + 1.4)
        if place < covered:
            writer.page.box(x, y, side, side, _BLUE)
        else:
            writer.page.box(x, y, side, side, edge=_BROWN)
    writer.y = top + 2 * (side + 1.4) - 2
    words = f"Of 100 future inputs, on average at least {covered} have a set that contains the truth."
    writer.paragraph(words, size=8.5, colour=_GREY)


def _promises(writer: _Writer, certificate: Certificate) -> None:
    coverage, efficiency = certificate.coverage, certificate.efficiency
    upper, without = efficiency.upper_bound, "by group" if certificate.groups else "none"
    writer.heading("The promise in numbers")
    writer.pairs(
        [
            ("Covers at least", promise(coverage.pool_miscoverage_bound)),
            ("With confidence", promise(coverage.delta + coverage.pool_delta)),
            ("Rows", f"{coverage.n} calibrate, {certificate.provenance.n_tune} tune"),
            (
                "Size",
                f"{efficiency.empirical:.4g} {efficiency.measure} measured on the rows that calibrate, on average",
            ),
            (
                "Certified size",
                without if upper is None else f"at most {at_most(upper)} {efficiency.measure}{cut_of(efficiency)}",
            ),
        ]
    )


def _caveats(writer: _Writer, certificate: Certificate) -> None:
    account = certificate.account
    found = [with_advice(caveat.message, caveat.code) for caveat in certificate.caveats]
    found += [with_advice(account.statement, "attempts")] if account is not None and account.is_caveat else []
    if found:
        writer.heading("Caveats")
    for message in found:
        writer.boxed(message, _AMBER, _BROWN)


def _about(writer: _Writer, certificate: Certificate) -> None:
    names, provenance, data = certificate.names, certificate.provenance, certificate.data
    made = f"method {provenance.method}, score {provenance.score}, guarantee {certificate.coverage.guarantee}"
    rows = [
        ("Model", f"{(names and names.model) or '-'}, sha256 {provenance.model_sha256[:_HASH]}"),
        ("Data", f"{(names and names.dataset) or '-'}, sha256 {provenance.dataset_sha256[:_HASH]}"),
        ("Made by", made),
        ("Predictor", certificate.predictor_id),
        ("Issuer and key", f"{(names and names.issuer) or '-'}, key {(names and names.key_id) or '-'}"),
    ]
    if data is not None:
        rows[1] = ("Data", f"{rows[1][1]}, {data.rows} rows")
    writer.heading("What it is about")
    writer.pairs(rows)


def _groups(writer: _Writer, certificate: Certificate) -> None:
    groups = certificate.groups
    if not groups:
        return
    writer.heading("Groups: the promise holds for each")
    rows = [
        [
            ", ".join(map(str, group.name)),
            str(group.n),
            "unbounded" if group.size is None else f"{group.size:.4g}",
            "-" if group.upper_bound is None else at_most(group.upper_bound),
            "-" if group.size_quantile is None else at_most(group.size_quantile),
        ]
        for group in groups
    ]
    writer.table(["Group", "Rows", "Measured size", "Certified size", "Nine in ten sets at most"], rows)


def _members(writer: _Writer, certificate: Certificate) -> None:
    count = len(certificate.members)
    writer.heading("Its one member computes every set" if count == 1 else f"Members ({count}): one computes each set")
    rows = [
        [
            str(member.member),
            f"{100 / count if member.weight is None else 100 * member.weight:.3g} %",
            "-" if member.distance is None else f"{member.distance:.3g}",
            str(member.k),
            f"{member.tau:.5g}",
            "-" if member.efficiency_bound is None else at_most(member.efficiency_bound),
        ]
        for member in certificate.members
    ]
    writer.table(["Member", "Chance", "Distance from the prior", "Rank k", "Threshold tau", "Certified size"], rows)


def _assumptions(writer: _Writer, certificate: Certificate) -> None:
    writer.heading("It holds if")
    for one in certificate.assumptions:
        before = writer.y
        writer.paragraph("-", size=9)
        writer.y = before
        writer.paragraph(one, size=9, x=_MARGIN + 9)


_PARTS: tuple[Callable[[_Writer, Certificate], None], ...] = (
    _promises,
    _caveats,
    _about,
    _groups,
    _members,
    _assumptions,
)


def _date(issued_at: str) -> str:
    try:
        return datetime.fromisoformat(issued_at).astimezone(UTC).strftime("%Y%m%d%H%M%SZ")
    except ValueError:
        return "19700101000000Z"
