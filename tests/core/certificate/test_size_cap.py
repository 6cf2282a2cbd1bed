"""Wherever a certified mean of widths stands, there stands above which size they are cut."""

import numpy as np
import pytest

from certiset.core.certificate.figures import certified_words
from certiset.core.certificate.group_figures import sizes_by_group
from certiset.core.certificate.size_cap import cut_of
from certiset.core.fit import Predictor, fit
from certiset.core.models import Model
from certiset.service.report.certificate_report import report
from tests.service.report.test_certificate_report import document, text_of

CUT = ", where sizes above 8 count as 8"


def quantiles(*, groups: bool) -> Predictor:
    """Of widths that grow with the input."""
    rng = np.random.default_rng(0)
    x = rng.uniform(0.5, 1.5, size=(1500, 1)).astype(np.float32)
    model = Model.from_predict(lambda rows: np.concatenate([-rows, rows], axis=1), task="regression")
    y = x[:, 0] * rng.normal(size=1500)
    given = np.arange(1500) % 2 if groups else None
    return fit(model, x, y, method="standard", score="cqr", size_cap=8.0, groups=given)


@pytest.fixture(scope="module")
def plain() -> Predictor:
    return quantiles(groups=False)


def test_on_a_card_in_a_report_and_below_a_figure(plain: Predictor) -> None:
    certificate = plain.certificate
    assert certificate.efficiency.upper_bound is not None
    assert CUT in (certificate.size_statement or "")
    assert cut_of(certificate.efficiency) == CUT
    (fact,) = [words for name, words in certificate.card().facts if name == "size certified"]
    assert fact.endswith(CUT)
    assert certified_words(certificate).endswith(f"{CUT}.")
    words = text_of(report(document(certificate), "in force", (1, 1)))
    assert words.count(CUT.removeprefix(", ")) == 2, "in the sentence, and in the list of numbers"


def test_in_the_figure_of_groups() -> None:
    certificate = quantiles(groups=True).certificate
    assert any(group.upper_bound for group in certificate.groups or [])
    assert f"certified for future ones{CUT}." in sizes_by_group(certificate).description
