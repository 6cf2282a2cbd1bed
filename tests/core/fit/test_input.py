"""What `fit` takes and what it refuses, each in a sentence, before any work."""

import math
from typing import Any

import numpy as np
import pytest
import torch

from certiset.core.bounds import TooFewPointsError
from certiset.core.errors import DataError, OptionError
from certiset.core.fit import fit
from tests.core.fit.problems import (
    changed,
    class_data,
    class_model,
    toy_data,
    toy_model,
)

X, Y = toy_data(400, 0)
CX, CY = class_data(400, 0)


@pytest.mark.parametrize(
    ("model", "x", "y", "options", "error", "message"),
    [
        (toy_model, changed(X, (7, 0), math.nan), Y, {}, DataError, "x must be finite, and row 8, column 1 is nan"),
        (toy_model, X, changed(Y, (9, 0), math.inf), {}, DataError, "y must be finite, and row 10, column 1 is inf"),
        (toy_model, X, np.zeros(400), {}, DataError, "y is the same in every row"),
        (class_model, CX, np.zeros(400, int), {}, DataError, "every label is 0"),
        (class_model, CX, CY % 2, {}, DataError, "no row has label 2"),
        (class_model, CX, CY + 1, {}, DataError, "labels must be from 0 to 2, the model's classes, and row 1 holds 3"),
        (class_model, CX, CY + 0.5, {}, DataError, "labels must be whole numbers"),
        (class_model, CX[:, :1], CY, {}, DataError, r"inputs of shape \(2,\), but x has rows of shape \(1,\)"),
        (class_model, CX, CY[:-1], {}, DataError, "x has 400 rows and y has 399"),
        (class_model, np.array([["a"]]), CY, {}, DataError, "x must hold numbers, not <U1"),
        (toy_model, X[:20], Y[:20], {}, TooFewPointsError, "20 rows leave n = 20 for calibration, too few"),
        (
            toy_model,
            X[:40],
            Y[:40],
            {"method": "learned"},
            TooFewPointsError,
            "40 rows leave n = 20 for calibration, too few .* that is 59 rows in all",
        ),
        (toy_model, X, Y, {"alpha": 0.001}, TooFewPointsError, "at least 2995 are needed"),
        (toy_model, X, Y, {"score": "log_prob"}, OptionError, "score log_prob is for classification"),
        (toy_model, X, Y, {"score": "cqr"}, OptionError, "two outputs"),
        (toy_model, X, Y, {"method": "magic"}, OptionError, "method must be one of auto, standard, learned"),
        (toy_model, X, Y, {"members": 0}, OptionError, "members must be at least 1, not 0"),
        (toy_model, X, Y, {"colour": 1}, OptionError, "colour is not an option: expected one of alpha"),
        (toy_model, X, Y, {"alpha": 2}, ValueError, "alpha must be less than 1, not 2"),
        (toy_model, X, Y, {"aplha": 1}, OptionError, "aplha is not an option: did you mean alpha"),
        (toy_model, X, Y, {"alpha_hat": 0.2}, OptionError, "alpha_hat must not exceed alpha"),
        (toy_model, X, Y, {"prior": {"split": 1.0}}, OptionError, "prior.split must be less than 1"),
        (toy_model, X, Y, {"prior": {"steps": -1}}, OptionError, "prior.steps must be at least 0, not -1"),
        (toy_model, X, Y, {"optimizer": {"kind": "sgd"}}, OptionError, "optimizer.kind must be one of projected"),
        (toy_model, X, Y, {"device": "abacus"}, OptionError, "device must be auto, cpu, cuda"),
        (toy_model, X, Y, {"tune": "head"}, OptionError, "has a scale to learn"),
        (class_model, CX, CY, {"tune": "score"}, OptionError, "has no parameters of its own"),
        (
            toy_model,
            X,
            Y,
            {"alpha": 0.1, "confidence_level": 0.9},
            OptionError,
            "give either alpha or confidence_level",
        ),
    ],
)
def test_bad_input_is_refused_before_any_work(
    model: Any, x: Any, y: Any, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    reports: list[Any] = []
    with pytest.raises(error, match=message) as caught:
        fit(model(), x, y, progress=reports.append, **options)
    assert isinstance(caught.value, ValueError)
    assert len([entry for entry in reports if entry["phase"] != "prepare"]) == 0


@pytest.mark.parametrize(
    "options",
    [
        {"alpha": [0.1, 0.2]},
        {"alpha_hat": []},
        {"size_cap": "a"},
        {"prior": 5},
        {"device": None},
        {"device": "meta"},
        {"score": 5},
        {"score": {"kind": []}},
        {"seed": -1},
        {"gamma": "small"},
    ],
    ids=str,
)
def test_odd_options_are_refused_in_a_sentence(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"must"):
        fit(toy_model(), X, Y, **options)


@pytest.mark.parametrize(
    "x",
    [X[:, 0], X.astype(np.float16), X.astype(np.longdouble), X.astype(">f4"), X[::-1], torch.from_numpy(X).bfloat16()],
    ids=["vector", "half", "long double", "big-endian", "reversed", "bfloat16"],
)
def test_inputs_of_any_float_kind_are_taken(x: Any) -> None:
    assert fit(toy_model(), x, Y, method="standard").certificate.verify().valid


def test_missing_classes_can_be_meant() -> None:
    predictor = fit(class_model(), CX, CY % 2, allow_missing_classes=True, method="standard")
    assert predictor.certificate.verify().valid


def test_confidence_level_is_another_word() -> None:
    assert fit(toy_model(), X, Y, confidence_level=0.8, method="standard").certificate.coverage.alpha == 0.2
