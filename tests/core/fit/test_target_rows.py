"""Rows for another population: chosen by weights or classes alone, counted, said, and never chosen again."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from certiset.core.bounds import ExhaustedClassError, TooFewPointsError, label_shift_draws, label_shift_rows
from certiset.core.certificate import Certificate
from certiset.core.data.frame import Frame
from certiset.core.errors import DataError, OptionError
from certiset.core.fit import Predictor, fit
from certiset.core.fit.audit import audit
from certiset.core.fit.density_ratio import DensityRatio
from certiset.core.fit.fitting import check
from certiset.core.fit.target_rows import LABELS
from tests.core.fit.problems import class_data, class_model, toy_data, toy_model

PLAIN: dict[str, Any] = {"method": "standard"}
X, Y = class_data(1000, 0)
WEIGHTS = np.where(X[:, 0] > 0, 1.5, 0.5)


@pytest.fixture(scope="module")
def weighted() -> Predictor:
    return fit(class_model(), X, Y, weights=WEIGHTS, weight_bound=2.0, **PLAIN)


def failed(certificate: Certificate) -> list[str]:
    return [check.name for check in certificate.verify().checks if not check.ok]


def test_kept_rows_are_counted_and_the_sentence_says_for_whom_the_promise_is(weighted: Predictor) -> None:
    certificate, shift = weighted.certificate, weighted.certificate.shift
    assert shift is not None
    assert shift.kept == certificate.coverage.n < 1000
    assert shift.effective is not None
    assert shift.effective == pytest.approx(WEIGHTS.sum() / 2)
    assert abs(shift.kept - shift.effective) < 5 * np.sqrt(shift.effective)
    assert certificate.data is not None
    assert certificate.data.rows == 1000
    assert certificate.data.distinct_rows == len(np.unique(X, axis=0))
    assert "future inputs of the population that the given weights describe" in certificate.statement
    assert any("their bound and the seed were fixed without the calibration rows" in a for a in certificate.assumptions)
    assert Certificate.from_json(json.dumps(certificate.to_json())).verify()


def test_weights_change_which_rows_are_kept_and_the_seed_does_too(weighted: Predictor) -> None:
    data, plan = check(class_model(), X, Y, weights=WEIGHTS, weight_bound=2.0, **PLAIN)
    again, _ = check(class_model(), X, Y, weights=10 * WEIGHTS, weight_bound=20.0, **PLAIN)
    other, _ = check(class_model(), X, Y, weights=WEIGHTS, weight_bound=2.0, seed=1, **PLAIN)
    assert np.array_equal(data.x, again.x), "weights are up to a factor"
    assert not np.array_equal(data.x[:50], other.x[:50])
    assert plan.n == len(data.y)
    right = (data.x[:, 0] > 0).mean()
    assert right > (X[:, 0] > 0).mean() + 0.15
    none, _ = check(class_model(), X, Y, weights=np.where(X[:, 0] > 0, 2.0, 0.0), weight_bound=2.0, **PLAIN)
    assert len(none.y) == np.sum(X[:, 0] > 0), "all with the largest weight, and none without any"


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        (np.where(X[:, 0] > 0, 2.5, 1.0), "at most weight_bound = 2"),
        (np.where(X[:, 0] > 0, -1.0, 1.0), "must not be negative"),
        (np.where(X[:, 0] > 0, np.inf, 1.0), "finite"),
        (np.ones(999), "999 entries for 1000 rows"),
        ([str(w) for w in WEIGHTS], "numbers"),
        (np.zeros(1000), "more rows, or a smaller bound"),
    ],
)
def test_weights_that_are_none_are_refused(weights: Any, sentence: str) -> None:
    with pytest.raises((DataError, TooFewPointsError), match=sentence) as caught:
        check(class_model(), X, Y, weights=weights, weight_bound=2.0, **PLAIN)
    assert caught.value.field == "weights"


def test_a_column_of_weights_is_no_input_and_an_auditor_keeps_the_same_rows(tmp_path: Path) -> None:
    frame = {"a": X[:, 0], "b": X[:, 1], "w": WEIGHTS}
    table = _table(frame)
    predictor = fit(class_model(), table, Y, weights="w", weight_bound=2.0, **PLAIN)
    certificate = predictor.certificate
    assert certificate.shift is not None
    assert certificate.shift.column == "w"
    assert certificate.data is not None
    assert certificate.data.columns == ["a", "b"]
    predictor.save(tmp_path)
    file, description = tmp_path / "predictor.safetensors", predictor.stored.description()
    assert all(c.ok for c in audit(certificate, class_model(), table, Y, file, description))
    heavier = _table({**frame, "w": WEIGHTS[::-1].copy()})
    assert not all(c.ok for c in audit(certificate, class_model(), heavier, Y, file, description))


def _table(columns: dict[str, Any]) -> Frame:
    return Frame(np.stack(list(columns.values()), axis=1), list(columns))


def test_prevalences_draw_so_many_rows_as_counts_allow() -> None:
    certificate = fit(class_model(), X, Y, prevalences=[0.6, 0.2, 0.2], **PLAIN).certificate
    shift = certificate.shift
    assert shift is not None
    assert shift.counts == np.bincount(Y).tolist()
    assert shift.kept == certificate.coverage.n == label_shift_draws(np.bincount(Y), [0.6, 0.2, 0.2])
    assert "whose classes are as frequent as the given prevalences say" in certificate.statement
    named = fit(class_model(), X, Y, prevalences={"0": 0.6, "1": 0.2, "2": 0.2}, **PLAIN).certificate
    assert named.id == certificate.id
    data, _ = check(class_model(), X, Y, prevalences={"0": 0.7, "2": 0.3}, **PLAIN)
    shares = np.bincount(data.y, minlength=3) / len(data.y)
    assert shares[1] == 0
    assert shares[0] == pytest.approx(0.7, abs=0.08)


@pytest.mark.parametrize(
    ("prevalences", "sentence"),
    [
        ([0.5, 0.5], "2 shares for 3 classes"),
        ([0.5, 0.5, 0.5], "add up to 1"),
        ([1.5, -0.5, 0.0], "from 0 to 1"),
        ({"0": 0.5, "seven": 0.5}, "'seven'"),
        ({"0": 0.5, "7": 0.5}, "from 0 to 2"),
        ("even", "list of one share"),
    ],
)
def test_prevalences_that_are_none_are_refused(prevalences: Any, sentence: str) -> None:
    with pytest.raises(OptionError, match=sentence) as caught:
        check(class_model(), X, Y, prevalences=prevalences, **PLAIN)
    assert caught.value.field == "prevalences"


def test_a_class_without_rows_is_named_and_one_that_runs_out_ends_it() -> None:
    kept = Y != 2
    with pytest.raises(DataError, match="No row has class 2, whose prevalence is"):
        check(class_model(), X[kept], Y[kept], prevalences=[0.6, 0.2, 0.2], allow_missing_classes=True, **PLAIN)
    prevalences = [0.4, 0.3, 0.3]
    seed = next(seed for seed in range(5000) if _runs_out(Y[:200], prevalences, seed))
    with pytest.raises(ExhaustedClassError, match="with another draw from them the promise would not hold") as caught:
        check(class_model(), X[:200], Y[:200], prevalences=prevalences, seed=seed, alpha=0.3, **PLAIN)
    assert caught.value.field == "prevalences"


def _runs_out(labels: Any, prevalences: list[float], seed: int) -> bool:
    """By the same draw as that of a fit with this seed."""
    try:
        label_shift_rows(labels, prevalences, np.random.default_rng([seed, LABELS]))
    except ExhaustedClassError:
        return True
    return False


def test_classes_are_of_classification() -> None:
    with pytest.raises(OptionError, match="model is for regression"):
        check(toy_model(), *toy_data(200, 0), prevalences=[0.5, 0.5], **PLAIN)


def test_estimated_weights_are_an_assumption_and_a_caveat() -> None:
    target = X[X[:, 0] > -0.5][:300]
    certificate = fit(class_model(), X, Y, target=target, **PLAIN).certificate
    shift = certificate.shift
    assert shift is not None
    assert (shift.target_rows, shift.trained_on) == (len(target), 300)
    assert shift.kept == certificate.coverage.n <= 700
    assert [caveat.code for caveat in certificate.caveats] == ["estimated_weights"]
    assert "that the estimated weights describe" in certificate.statement
    assert any("only so far as the estimate is right" in words for words in certificate.assumptions)
    assert certificate.verify()
    silent = replace(certificate, caveats=[])
    assert "caveat about estimated weights" in failed(silent)
    with pytest.raises(DataError, match="target inputs do not fit") as caught:
        check(class_model(), X, Y, target=X[:, :1], **PLAIN)
    assert caught.value.field == "target"


def test_an_auditor_with_the_target_inputs_estimates_the_same_weights(tmp_path: Path) -> None:
    target = X[X[:, 0] > -0.5][:300]
    predictor = fit(class_model(), X, Y, target=target, **PLAIN)
    predictor.save(tmp_path)
    given = (predictor.certificate, class_model(), X, Y, tmp_path / "predictor.safetensors")
    description = predictor.stored.description()
    assert all(found.ok for found in audit(*given, description, target=target))
    assert not all(found.ok for found in audit(*given, description, target=target[:200]))
    assert [found.name for found in audit(*given, description)] == ["target inputs"]


def test_a_classifier_knows_the_ratio_of_two_gaussians() -> None:
    rng = np.random.default_rng(0)
    source, target = rng.normal(size=(20_000, 2)), rng.normal([1.0, 0.0], size=(20_000, 2))
    ratio = DensityRatio.trained(source, target, bound=1e6)
    x = rng.normal(size=(200, 2))
    assert np.allclose(np.log(ratio.of(x)), x[:, 0] - 0.5, atol=0.15)
    assert DensityRatio.trained(source, target).bound == pytest.approx(np.exp(0.5 + 2.054), rel=0.2)


@pytest.mark.parametrize(
    ("changes", "check_name"),
    [
        ({"kept": 10}, "rows kept"),
        ({"weight_bound": -1.0}, "bound of the weights"),
        ({"kind": "wishes"}, "kind of shift"),
        ({"weights_sha256": None}, "SHA-256 of the weights"),
        ({"trained_on": -1}, "rows that trained weights"),
        ({"trained_on": 1}, "weights that were estimated"),
        ({"target_rows": 5}, "number of target inputs"),
        ({"effective": 2000.0}, "effective number"),
        ({"column": "w"}, "column of weights"),
        ({"weights_sha256": "beef"}, "hashes that are none"),
    ],
)
def test_a_certificate_whose_population_was_changed_is_not_valid(
    weighted: Predictor, changes: dict[str, Any], check_name: str
) -> None:
    shift = weighted.certificate.shift
    assert shift is not None
    assert check_name in failed(replace(weighted.certificate, shift=replace(shift, **changes)))


def test_a_population_that_was_left_out_is_noticed(weighted: Predictor) -> None:
    assert "statement" in failed(replace(weighted.certificate, shift=None))
