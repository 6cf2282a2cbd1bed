"""The report is one page, the same bytes each time, and says what the certificate says."""

import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from certiset.core.certificate import Certificate
from certiset.core.certificate.content import Caveat
from certiset.core.certificate.group_content import Group
from certiset.core.certificate.names import Names
from certiset.service.report.advice import advice_by_code
from certiset.service.report.certificate_report import report
from certiset.service.report.fonts import BOLD, REGULAR, wrapped
from certiset.service.report.pdf import HEIGHT
from tests.service.server import Server


def text_of(pdf: bytes) -> str:
    """What is written, line by line; the page's content is not compressed."""
    found = re.findall(rb"\(((?:[^()\\]|\\.)*)\) Tj", pdf)
    return " ".join(re.sub(rb"\\(.)", rb"\1", line).decode("cp1252") for line in found)


def lowest(pdf: bytes) -> float:
    return min(float(y) for y in re.findall(rb"[\d.]+ (-?[\d.]+) Td", pdf))


def document(certificate: Certificate, **changes: Any) -> str:
    return json.dumps(replace(certificate, **changes).to_json())


@pytest.mark.parametrize("task", ["classification", "regression", "pool"])
def test_it_says_what_the_certificate_says_on_one_page(server: Server, ada: httpx.Client, task: str) -> None:
    id = server.predictors[task].certificate.id
    answer = ada.get(f"/certificates/{id}/report.pdf")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/pdf")
    assert answer.content == ada.get(f"/certificates/{id}/report.pdf").content
    assert len(re.findall(rb"/Type /Page\b", answer.content)) == 1
    certificate, words = ada.get(f"/certificates/{id}"), text_of(answer.content)
    content = certificate.json()
    for said in (content["statement"], content["size_statement"] or "", *content["assumptions"], id):
        assert said in words
    assert hashlib.sha256(certificate.content).hexdigest()[:16] in words
    assert lowest(answer.content) > 0


def test_it_stays_on_its_page_however_much_there_is_to_say(server: Server) -> None:
    certificate = server.predictors["pool"].certificate
    many = [replace(certificate.members[0], member=number) for number in range(500)]
    caveats = [Caveat("order", "There is a lot to say about the rows and what became of them. " * 4)] * 6
    pdf = report(document(certificate, members=many, caveats=caveats), "contradicted", (70, 69))
    assert 0 < lowest(pdf) < HEIGHT / 4
    assert "69 of 70 checks hold" in text_of(pdf)
    assert "do not rely on it" in text_of(pdf)
    assert "more, which the certificate has" in text_of(pdf)


def test_every_caveat_says_what_to_do_on_paper_as_on_the_page(server: Server) -> None:
    sources = (Path(__file__).parents[3] / "core").rglob("*.py")
    codes = {code for file in sources for code in re.findall(r'Caveat\(\s*"(\w+)"', file.read_text())}
    assert len(codes) >= 12
    assert codes <= advice_by_code().keys()
    caveats = [Caveat("groups_too_small", "One group has too few rows.")]
    words = text_of(report(document(server.predictors["pool"].certificate, caveats=caveats), "consistent", (1, 1)))
    assert "too few rows. What to do: Collect the rows that are lacking" in words


def test_tables_leave_out_what_nothing_stands_in(server: Server) -> None:
    certificate = server.predictors["regression"].certificate
    alone = [replace(certificate.members[0], efficiency_bound=None)]
    groups = [Group([name], n=90, delta=0.025, k=5, tau=1.5, size=2.25, upper_bound=2.3) for name in ("north", "south")]
    efficiency = replace(certificate.efficiency, upper_bound=None)
    changed = document(certificate, members=alone, groups=groups, efficiency=efficiency)
    words = text_of(report(changed, "consistent", (1, 1)))
    assert "Certified size by group" in words
    assert "Its one member computes every set Member Chance Rank k Threshold tau 0 100 %" in words
    assert "Group Rows Measured size Certified size north 90 2.25 2.3" in words


def test_names_cannot_break_out_of_their_string(server: Server) -> None:
    names = Names(model=") Tj ET (\\", dataset="Köln \u4e2d\u6587 \x00", issuer="x" * 3000)
    pdf = report(document(server.predictors["pool"].certificate, names=names), "consistent", (1, 1))
    words = text_of(pdf)
    assert ") Tj ET (\\" in words
    assert "Köln ??" in words
    place = int(re.findall(rb"startxref\n(\d+)", pdf)[0])
    assert pdf[place : place + 4] == b"xref"


def test_lines_fit_into_their_room() -> None:
    text = "Sets contain the truth for at least 90 % of future inputs, and " + "i" * 200 + "m" * 90
    for font in (REGULAR, BOLD):
        lines = wrapped(text, font, 9, 120)
        assert all(font.width(line, 9) <= 120 for line in lines)
        assert "".join(lines).replace(" ", "") == text.replace(" ", "")
