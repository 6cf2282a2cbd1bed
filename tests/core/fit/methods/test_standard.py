"""The score as it is, and every row calibrates."""

from typing import Any

import pytest

from certiset.core.bounds import vovk_2a, vovk_2b
from certiset.core.fit import fit
from tests.core.fit.problems import class_data, class_model, toy_data, toy_model


@pytest.mark.parametrize("prior", [{}, {"split": 0.7}, {"train": "none"}], ids=str)
@pytest.mark.parametrize("rows", [60, 250])
def test_all_rows_calibrate_whatever_is_said_about_tuning(rows: int, prior: Any) -> None:
    predictor = fit(class_model(), *class_data(rows, 0), method="standard", prior=prior)
    certificate = predictor.certificate
    assert (certificate.provenance.n_tune, certificate.provenance.n_calibrate) == (0, rows)
    assert certificate.coverage.k == vovk_2b(rows, 0.1, 0.05)
    assert predictor.theta.shape == (1, 0)
    assert certificate.selection is None


def test_a_learned_scale_is_left_out() -> None:
    predictor = fit(toy_model(), *toy_data(200, 0), method="standard")
    assert predictor.certificate.provenance.score == "residual"
    widths = predictor.predict_set(toy_data(50, 1)[0]).size
    assert widths.max() == pytest.approx(widths.min(), rel=1e-5)


def test_the_other_bound_of_a_fixed_predictor_can_be_chosen() -> None:
    certificate = fit(class_model(), *class_data(300, 0), method="standard", bound="vovk_2a", delta=0.01).certificate
    assert (certificate.coverage.bound, certificate.coverage.k) == ("vovk_2a", int(301 * vovk_2a(300, 0.1, 0.01)))
