"""Certificates of format 1 stay what they were; format 2 may grow sections without changing what was signed before."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from certiset.core.certificate import Certificate
from certiset.core.certificate.signing import signed_by
from certiset.core.errors import DamagedFileError
from certiset.core.fit import fit
from tests.core.fit.problems import QUICK, class_data, class_model

ISSUED = sorted((Path(__file__).parents[2] / "system/upgrade/deployment_0_1_0/certificates").glob("*.json"))


@pytest.fixture(scope="module")
def certificate() -> Certificate:
    return fit(class_model(), *class_data(600, 0), method="learned", **QUICK).certificate


@pytest.mark.parametrize("file", ISSUED, ids=lambda file: file.stem)
def test_a_certificate_of_format_1_reads_writes_and_verifies_as_it_did(file: Path) -> None:
    document = json.loads(file.read_text())
    certificate = Certificate.from_json(document)
    assert certificate.format == 1
    assert certificate.to_json() == document
    assert certificate.id == certificate.digest_id
    assert certificate.verify(signed_by(certificate)).valid
    assert not replace(certificate, statement=certificate.statement.replace("least", "most")).verify().valid


@pytest.mark.parametrize("added", [{"caveats": []}, {"data": {"rows": 5}}, {"colour": "blue"}], ids=str)
def test_format_1_has_none_of_the_later_fields(added: dict[str, Any]) -> None:
    with pytest.raises(DamagedFileError, match="is not known"):
        Certificate.from_json(json.loads(ISSUED[0].read_text()) | added)


def test_format_1_keeps_its_sections_too() -> None:
    document = json.loads(ISSUED[0].read_text())
    del document["coverage"]["union"]
    with pytest.raises(DamagedFileError, match=r"certificate\.coverage: field 'union' is missing"):
        Certificate.from_json(document)


def test_a_certificate_issued_today_cannot_pass_for_one_of_format_1(certificate: Certificate) -> None:
    document = certificate.to_json()
    assert document["format"] == 2
    del document["format"]
    with pytest.raises(DamagedFileError, match="is not known"):
        Certificate.from_json(document)
    as_old = replace(certificate, format=1)
    assert not replace(as_old, id=as_old.digest_id).verify().valid


def test_a_later_format_is_refused_by_its_number(certificate: Certificate) -> None:
    with pytest.raises(DamagedFileError, match="is of format 3, and this version reads 1 and 2"):
        Certificate.from_json(certificate.to_json() | {"format": 3})


def test_optional_sections_that_are_absent_are_not_written(certificate: Certificate) -> None:
    without = replace(certificate, names=None)
    assert "names" not in without.to_json()
    assert Certificate.from_json(without.to_json()) == without


def test_names_do_not_change_what_a_certificate_is_called(certificate: Certificate) -> None:
    assert replace(certificate, names=None, issued_at="another day").digest_id == certificate.id


def test_all_options_but_the_device_stand_on_it(certificate: Certificate) -> None:
    assert certificate.options is not None
    assert certificate.options["alpha"] == certificate.coverage.alpha
    assert certificate.options["prior"]["split"] == 0.5
    assert "device" not in certificate.options
    assert certificate.data is not None
    assert certificate.data.rows == 600
