"""Rows that belong together: what a certificate says of them, and that nothing is said in silence."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from certiset.core.errors import DataError
from certiset.core.fit import Predictor, fit
from tests.core.fit.problems import class_data, class_model, shifted_logits_model

PLAIN: dict[str, Any] = {"method": "standard"}


def codes(predictor: Predictor) -> list[str]:
    return [caveat.code for caveat in predictor.certificate.caveats]


def patients(count: int, rows: int, seed: int) -> tuple[Any, Any, Any]:
    """Each with so many nearly equal rows."""
    rng = np.random.default_rng(seed)
    x, y = class_data(count, seed)
    number = np.repeat(np.arange(count), rows)
    mixed = rng.permutation(len(number))
    near = x[number] + 1e-3 * rng.normal(size=(len(number), 2)).astype(np.float32)
    return near[mixed], y[number][mixed], number[mixed]


def test_nearly_equal_rows_are_a_caveat_that_says_what_to_do() -> None:
    x, y, _ = patients(250, 4, 0)
    predictor = fit(class_model(), x, y, **PLAIN)
    assert codes(predictor) == ["near_equal_rows"]
    message = predictor.certificate.caveats[0].message
    assert "All of the rows" in message
    assert 'clusters: "patient"' in message
    assert predictor.certificate.verify()


def test_copied_rows_are_a_caveat_and_equal_rows_as_clusters_are_the_remedy() -> None:
    x, y = class_data(300, 0)
    mixed = np.random.default_rng(0).permutation(600)
    doubled, truths = np.repeat(x, 2, axis=0)[mixed], np.repeat(y, 2)[mixed]
    assert codes(fit(class_model(), doubled, truths, **PLAIN)) == ["equal_rows"]
    predictor = fit(class_model(), doubled, truths, clusters="equal_rows", **PLAIN)
    data = predictor.certificate.data
    assert data is not None
    assert (data.rows, data.distinct_rows, data.clusters, data.cluster_column) == (600, 300, 300, "equal_rows")
    assert predictor.certificate.coverage.n == 300
    assert codes(predictor) == []
    assert "one randomly chosen input of a new group of equal rows" in predictor.certificate.statement


def test_clusters_are_counted_named_and_assumed_to_be_independent() -> None:
    x, y, number = patients(100, 4, 1)
    predictor = fit(class_model(), x, y, clusters=[f"patient {n}" for n in number], **PLAIN)
    certificate = predictor.certificate
    assert certificate.data is not None
    assert (certificate.data.rows, certificate.data.clusters, certificate.coverage.n) == (400, 100, 100)
    assert "one randomly chosen input of a new cluster" in certificate.statement
    assert "future inputs" not in certificate.statement
    assert certificate.assumptions[0].startswith("Clusters of rows")
    assert codes(predictor) == []
    assert certificate.verify()
    assert not replace(certificate, data=replace(certificate.data, clusters=None)).verify()
    more = replace(certificate, data=replace(certificate.data, clusters=400))
    assert "clusters" in [check.name for check in more.verify().checks if not check.ok]


def test_the_names_of_clusters_do_not_matter() -> None:
    x, y, number = patients(60, 3, 2)
    one = fit(class_model(), x, y, clusters=number, **PLAIN).certificate
    other = fit(class_model(), x, y, clusters=[f"p{-n}" for n in number], **PLAIN).certificate
    assert one.id == other.id
    assert one.id != fit(class_model(), x, y, clusters=number // 2, **PLAIN).certificate.id


@pytest.mark.parametrize(
    ("clusters", "message"),
    [
        ([1, 2, 3], "clusters has 3 entries for 100 rows"),
        (np.zeros((100, 2)), "clusters must have one entry per row"),
        ([None] + ["a"] * 99, "clusters is missing in row 1"),
        ("patient", "clusters names the column 'patient', but the columns of the data have no names"),
    ],
)
def test_clusters_that_do_not_fit_the_rows_are_refused(clusters: Any, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        fit(class_model(), *class_data(100, 0), clusters=clusters, **PLAIN)
    assert caught.value.field == "clusters"


def test_sorted_rows_are_a_caveat_with_a_p_value() -> None:
    x, y = class_data(300, 0)
    shuffled = fit(class_model(), x, y, **PLAIN)
    assert codes(shuffled) == []
    order = np.argsort(y, kind="stable")
    predictor = fit(class_model(), x[order], y[order], **PLAIN)
    assert codes(predictor) == ["order"]
    data = predictor.certificate.data
    assert data is not None
    assert data.order_p_value is not None
    assert data.order_p_value < 1e-6
    assert "If rows were only sorted" in predictor.certificate.caveats[0].message


def test_noise_that_grows_with_time_is_a_caveat_and_the_latest_rows_can_calibrate() -> None:
    rng = np.random.default_rng(0)
    time = np.arange(1000) / 1000
    logits = 4 * np.eye(6)[rng.integers(6, size=1000)]
    y = logits.argmax(1)
    noisy = logits + 3 * time[:, None] * rng.normal(size=(1000, 6))
    assert codes(fit(shifted_logits_model(), noisy, y, **PLAIN)) == ["order"]
    mixed = rng.permutation(1000)
    predictor = fit(
        shifted_logits_model(), noisy[mixed], y[mixed], order=time[mixed], method="learned", prior={"steps": 5}
    )
    assert codes(predictor) == ["order_of_time", "order"]
    assert "not independent draws" in predictor.certificate.caveats[0].message
    assert predictor.certificate.verify()
