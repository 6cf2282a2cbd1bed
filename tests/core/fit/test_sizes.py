"""What a certificate says about sizes: nothing that a cap has made true, and a quantile that needs none."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from certiset.core.certificate import Certificate, Member
from certiset.core.certificate.open_sizes import next_open_size, open_sizes
from certiset.core.certificate.rounding import at_most
from certiset.core.certificate.size_statement import size_statement
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


@pytest.mark.parametrize("score", ["ball", "box"])
@pytest.mark.parametrize("method", ["standard", "learned"])
def test_balls_and_boxes_of_one_volume_are_certified_exactly(score: str, method: Any) -> None:
    rng = np.random.default_rng(0)
    centre = rng.normal(size=(300, 2))
    predictor = fit(QUANTILES, centre, centre + rng.normal(size=(300, 2)), score=score, method=method, **QUICK)
    certificate = predictor.certificate
    assert certificate.efficiency.bound == "exact"
    assert predictor.predict_set(centre).size.max() <= certificate.efficiency.upper_bound * (1 + 1e-5)  # type: ignore[operator]
    assert "Every set has a volume of at most" in (certificate.size_statement or "")
    assert certificate.verify().valid
    for dimensions in (None, 0, 3):
        other = replace(certificate, efficiency=replace(certificate.efficiency, dimensions=dimensions))
        assert not replace(other, id=other.digest_id).verify().valid, "an area is no volume"


def test_intervals_of_several_members_are_not_all_as_narrow_as_their_mean() -> None:
    certificate = fit(toy_model(), *toy_data(300, 0), method="standard").certificate
    first = certificate.members[0]
    width = first.efficiency_bound or 0.0
    second = replace(first, member=1, tau=2 * first.tau, efficiency_bound=2 * width)
    pool = replace(
        certificate,
        members=[first, second],
        efficiency=replace(certificate.efficiency, upper_bound=1.5 * width),
    )
    said = size_statement(pool) or ""
    assert f"every interval is at most {at_most(2 * width)} wide" in said
    assert said.startswith("The mean width of future sets")
    assert f"is at most {at_most(1.5 * width)}, and" in said


def test_a_mean_size_without_a_cap_is_not_certified_but_a_quantile_is() -> None:
    x, y = wide_quantiles(300, 0, tail=0.2)
    predictor = fit(QUANTILES, x, y, method="standard", score="cqr")
    efficiency = predictor.certificate.efficiency
    assert (efficiency.bound, efficiency.upper_bound) == (None, None)
    assert [caveat.code for caveat in predictor.certificate.caveats] == ["mean_size_not_certified"]
    assert efficiency.quantile is not None
    assert efficiency.quantile.sizes == 4097
    assert "mean size" not in (predictor.certificate.size_statement or "")
    later, _ = wide_quantiles(5000, 1, tail=0.2)
    assert np.mean(predictor.predict_set(later).size > efficiency.quantile.size) <= efficiency.quantile.share
    assert predictor.certificate.verify().valid


@pytest.mark.parametrize("score", ["log_prob", "lac", "aps", "raps"])
def test_without_tuning_rows_labels_have_a_mean_and_a_quantile_of_their_own(score: str) -> None:
    predictor = fit(class_model(), *class_data(600, 0), method="standard", score=score)
    efficiency = predictor.certificate.efficiency
    assert efficiency.bound == "grid_betting"
    assert efficiency.quantile is not None
    assert predictor.certificate.verify().valid
    sizes = predictor.predict_set(class_data(5000, 1)[0]).size
    assert sizes.mean() <= (efficiency.upper_bound or 0.0)
    assert np.mean(sizes > efficiency.quantile.size) <= efficiency.quantile.share


@pytest.mark.parametrize("unit", [1.0, 1e-30, 1e20])
def test_sizes_are_certified_alike_in_every_unit(unit: float) -> None:
    x, y = wide_quantiles(400, 0, tail=0.5)
    efficiency = fit(
        QUANTILES, unit * x, unit * y, method="standard", score="cqr", size_cap=20 * unit
    ).certificate.efficiency
    assert efficiency.bound == "grid_betting"
    assert 2 * unit < (efficiency.upper_bound or 0.0) < 7 * unit
    assert efficiency.quantile is not None
    assert 3 * unit < efficiency.quantile.size < 7 * unit


@pytest.mark.parametrize("measure", ["width", "labels"])
def test_open_sizes_are_fixed_and_each_size_is_rounded_up_to_the_next(measure: str) -> None:
    cap = 1000.0 if measure == "labels" else None
    sizes = np.random.default_rng(0).uniform(1, 999, size=200)
    named = np.array([next_open_size(measure, cap, size) for size in sizes.tolist()])
    assert np.all((named >= sizes) & (named <= np.ceil(sizes) * (1 + 1 / 15)))
    assert all(next_open_size(measure, cap, size) == size for size in named.tolist())
    if measure == "labels":
        every = {next_open_size(measure, cap, count) for count in range(1, 1001)}
        assert len(every) - 1 == open_sizes(measure, cap), "that no set is larger than all labels is free"
        assert [next_open_size(measure, 10.0, size) for size in (0.0, 1.0, 3.5, 10.0)] == [1, 1, 4, 10]
    else:
        assert next_open_size(measure, cap, 0.0) == 2.0**-128
        assert next_open_size(measure, cap, 1e39) == np.inf


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
    assert efficiency.quantile.sizes is not None
    fewer = replace(efficiency.quantile, sizes=1)
    forged = [
        replace(labels, efficiency=replace(efficiency, quantile=fewer)),
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
