"""What certificates, verifications, predictors and their sets show of themselves."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from certiset.core.certificate import Caveat, Verification
from certiset.core.certificate.certificate import Certificate
from certiset.core.display import LINES
from certiset.core.fit import Predictor, fit
from certiset.core.models import Model
from certiset.service.client import Certificate as DownloadedCertificate
from tests.core.test_display import parsed

HOSTILE = "<script>alert(1)</script>"
NAMES = ["ant", HOSTILE, "cat"]
TAGS = {"div", "p", "strong", "span", "table", "thead", "tbody", "tr", "th", "td", "details", "summary"}
GROUPS = np.array(["left", "<img src=x onerror=alert(1)>"])


def rows(count: int = 600) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=count)
    return 2.0 * np.eye(3)[y] + rng.normal(size=(count, 3)), y


def named_model(name: str = "<b>forest</b>") -> Model:
    manifest = {"name": name, "task": "classification", "classes": 3, "labels": NAMES, "input_shape": [3]}
    return Model.from_manifest(manifest)


@pytest.fixture(scope="module")
def plain() -> Predictor:
    return fit(named_model(), *rows(), method="standard")


@pytest.fixture(scope="module")
def grouped() -> Predictor:
    x, y = rows()
    return fit(named_model(), x, y, method="standard", groups=GROUPS[np.arange(len(y)) % 2])


@pytest.fixture(scope="module")
def by_class() -> Predictor:
    return fit(named_model(), *rows(), method="standard", groups="class")


def is_sound(shown: Any, *words: str) -> None:
    """No more than the lines of a terminal, and the same words, and nothing but words, on a page."""
    text, html = repr(shown), shown._repr_html_()
    assert str(shown) == text
    assert len(text.split("\n")) <= LINES
    found = parsed(html)
    assert found.tags <= {
        "div",
        "p",
        "strong",
        "span",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "details",
        "summary",
    }
    assert found.attributes <= {"class", "style", "scope"}
    for word in words:
        assert word in " ".join(text.split()), word
        assert word in found.words, word


def test_a_certificate_says_its_sentences_and_its_numbers_against_itself(plain: Predictor) -> None:
    certificate = plain.certificate
    is_sound(certificate, certificate.id, certificate.statement, "90 %", "95 %", "ant", HOSTILE, "<b>forest</b>")
    changed = replace(certificate, coverage=replace(certificate.coverage, pool_miscoverage_bound=0.10000049))
    assert "89.9999 %" in repr(changed)


def test_caveats_are_seen(plain: Predictor) -> None:
    caveat = Caveat("copies", "Half of the rows are copies.")
    certificate = replace(plain.certificate, caveats=[caveat])
    is_sound(certificate, "Caveat: Half of the rows are copies.")
    is_sound(replace(plain, certificate=certificate), "Caveat: Half of the rows are copies.")


def test_groups_and_classes_are_named(grouped: Predictor, by_class: Predictor) -> None:
    is_sound(grouped.certificate, *GROUPS, "group", "size measured")
    is_sound(grouped, "by an array")
    is_sound(by_class.certificate, *NAMES, "class")


def test_what_a_client_has_read_looks_the_same(by_class: Predictor) -> None:
    certificate = by_class.certificate
    read = DownloadedCertificate.model_validate(certificate.to_json())
    assert repr(read) == repr(certificate)
    assert read._repr_html_() == certificate._repr_html_()


def test_a_predictor_says_what_it_promises_and_takes(plain: Predictor) -> None:
    is_sound(plain, "<b>forest</b>", plain.certificate.statement, "covers at least 90 %", "3 numbers per row", HOSTILE)


def test_sets_are_written_with_the_names_of_their_classes(plain: Predictor) -> None:
    sets = plain.predict_set(rows()[0])
    is_sound(sets, "LabelSets: 600 sets", "mean size", "ant")
    assert HOSTILE in repr(plain.predict_set(np.array([[0.0, 9.0, 0.0]])))
    is_sound(plain.predict_set(np.zeros((0, 3))), "LabelSets: 0 sets")


def test_intervals_are_written_with_their_ends() -> None:
    model = Model.from_manifest({"name": "line", "task": "regression", "input_shape": [1]})
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 1))
    sets = fit(model, x, x[:, 0] + rng.normal(size=300), method="standard").predict_set(x)
    is_sound(sets, "Intervals: 300 sets", sets.text(0), "and 290 more")


def test_a_verification_says_who_stands_behind_it(plain: Predictor) -> None:
    found = plain.certificate.verify()
    is_sound(found, "The numbers hold, but nobody that you named has signed them.", "checks passed")


def test_a_verification_that_failed_says_what_was_found(plain: Predictor) -> None:
    certificate = plain.certificate
    forged = replace(certificate, coverage=replace(certificate.coverage, alpha_hat=0.5))
    found: Verification = forged.verify()
    is_sound(found, "do not rely on it", "failed: alpha_hat", "found 0.5")


def test_certificates_are_compared_and_read_as_before(plain: Predictor) -> None:
    assert Certificate.from_json(plain.certificate.to_json()) == plain.certificate
