"""What a certificate says about sizes: nothing that a cap has made true, and a quantile that needs none."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from certiset.core.certificate import Certificate, Member
from certiset.core.fit import fit
from certiset.core.models import Model
from tests.core.fit.problems import QUICK, class_data, class_model, toy_data, toy_model

QUANTILES = Model.from_manifest(
    {"name": "quantiles", "task": "regression", "input_shape": [2], "head": {"kind": "identity"}}, {}
)


def wide_quantiles(rows: int, seed: int, *, tail: float) -> tuple[Any, Any]:
    """Two quantiles whose distance has a tail like that of a log-normal law, and the truth near one of them."""
    rng = np.random.default_rng(seed)
    width = np.exp(tail * rng.normal(size=rows))
    return np.stack([-width, width], axis=1), width * rng.uniform(-1.2, 1.2, size=rows)


def test_intervals_of_one_width_are_certified_exactly() -> None:
    x, y = toy_data(300, 0)
    predictor = fit(toy_model(), x, y, method="standard")
    efficiency = predictor.certificate.efficiency
    assert efficiency.bound == "exact"
    assert predictor.predict_set(x).size.max() <= efficiency.upper_bound * (1 + 1e-6)  # type: ignore[operator]
    assert "Every interval is at most" in (predictor.certificate.size_statement or "")
    assert predictor.certificate.verify().valid


def test_a_size_without_a_cap_is_not_certified() -> None:
    x, y = wide_quantiles(300, 0, tail=0.2)
    certificate = fit(QUANTILES, x, y, method="standard", score="cqr").certificate
    assert certificate.efficiency.bound is None
    assert certificate.efficiency.upper_bound is None
    assert certificate.size_statement is None
    assert certificate.verify().valid


def test_where_a_cap_cuts_the_sentence_says_so() -> None:
    x, y = wide_quantiles(600, 0, tail=0.2)
    certificate = fit(QUANTILES, x, y, score="cqr", method="learned", size_cap=8.0, **QUICK).certificate
    assert "where sizes above 8 count as 8" in (certificate.size_statement or "")
    labels = fit(class_model(), *class_data(600, 0), method="learned", **QUICK).certificate
    assert "labels" in (labels.size_statement or "")
    assert "count as" not in (labels.size_statement or "")


@pytest.mark.parametrize(("tail", "cap"), [(4.0, 50.0), (0.2, 0.01)], ids=["heavy tails", "a cap far below"])
def test_no_mean_is_certified_that_only_the_cap_has_made_small(tail: float, cap: float) -> None:
    x, y = wide_quantiles(600, 1, tail=tail)
    certificate = fit(QUANTILES, x, y, score="cqr", method="learned", size_cap=cap, **QUICK).certificate
    assert certificate.efficiency.upper_bound is None
    assert [caveat.code for caveat in certificate.caveats] == ["mean_size_not_certified"]
    assert "mean size" not in (certificate.size_statement or "")
    assert certificate.verify().valid


@pytest.fixture(scope="module")
def labels() -> Certificate:
    return fit(class_model(), *class_data(900, 0), method="learned", **QUICK).certificate


def test_few_sets_are_larger_than_the_certified_quantile() -> None:
    predictor = fit(class_model(), *class_data(900, 0), method="learned", **QUICK)
    quantile = predictor.certificate.efficiency.quantile
    assert quantile is not None
    x, _ = class_data(5000, 1)
    assert np.mean(predictor.predict_set(x).size > quantile.size) <= quantile.share


def edited(certificate: Certificate, **changes: Any) -> Certificate:
    member = replace(certificate.members[0], **changes)
    return replace(certificate, members=[member, *certificate.members[1:]])


def test_a_smaller_quantile_does_not_verify(labels: Certificate) -> None:
    efficiency, first = labels.efficiency, labels.members[0]
    assert efficiency.quantile is not None
    assert first.size_k is not None
    forged = [
        replace(labels, efficiency=replace(efficiency, quantile=replace(efficiency.quantile, size=0.5))),
        replace(labels, efficiency=replace(efficiency, quantile=replace(efficiency.quantile, share=0.01))),
        replace(labels, efficiency=replace(efficiency, quantile=replace(efficiency.quantile, gamma=1e-6))),
        replace(labels, efficiency=replace(efficiency, quantile=None)),
        edited(labels, size_k=first.size_k + 1),
        edited(labels, size_k=None),
        replace(labels, size_statement="Every set has one label."),
        replace(labels, size_statement=None),
    ]
    for certificate in forged:
        assert not replace(certificate, id=certificate.digest_id).verify().valid


def test_a_width_below_twice_the_threshold_does_not_verify() -> None:
    certificate = fit(toy_model(), *toy_data(300, 0), method="standard").certificate

    def forged(member: Member, size: float) -> Certificate:
        changed = edited(certificate, efficiency_bound=size)
        changed = replace(changed, efficiency=replace(changed.efficiency, upper_bound=size))
        return replace(changed, id=changed.digest_id)

    assert not forged(certificate.members[0], certificate.members[0].tau).verify().valid
