"""The options of a fit: one definition, whose errors name the field as the caller wrote it."""

import subprocess
import sys
from typing import Any

import jsonschema
import numpy as np
import pytest

from certiset.core.errors import OptionError
from certiset.core.fit.options import FitOptions

WRONG = [
    ({"alpha": 2}, "alpha", "alpha must be less than 1, not 2."),
    ({"alpha": 0}, "alpha", "alpha must be greater than 0, not 0."),
    ({"alpha": "a"}, "alpha", "alpha must be a number, not 'a'."),
    ({"alpha": float("nan")}, "alpha", "alpha must be less than 1, not nan."),
    ({"alpha": "0.1"}, "alpha", "alpha must be a number, not '0.1'."),
    ({"members": True}, "members", "members must be a whole number, not True."),
    ({"members": None}, "members", "members must be a whole number, not null."),
    ({"allow_missing_classes": "yes"}, "allow_missing_classes", "allow_missing_classes must be true or false"),
    ({"members": 1.5}, "members", "members must be a whole number, not 1.5."),
    ({"method": "magic"}, "method", "method must be one of auto, standard, learned, pac_bayes, progressive"),
    ({"prior": {"split": 1.0}}, "prior.split", "prior.split must be less than 1, not 1.0."),
    ({"prior": {"scale": 1e7}}, "prior.scale", "prior.scale must be at most 1e+06, not 10000000.0."),
    ({"prior": 3}, "prior", "prior must be an object with named fields, not 3."),
    ({"prior": {"stps": 3}}, "prior.stps", "prior.stps is not an option: did you mean prior.steps?"),
    ({"aplha": 0.1}, "aplha", "aplha is not an option: did you mean alpha?"),
    ({"optimizer": {"kind": "sgd"}}, "optimizer.kind", "optimizer.kind must be one of projected, augmented_lagrangian"),
    ({"score": {"kind": "raps", "penalty": -1}}, "score.penalty", "score.penalty must be at least 0, not -1."),
    ({"score": {"kind": "raps", "free": "a"}}, "score.free", "score.free must be a number, not 'a'."),
    (
        {"score": {"kind": "aps", "penalty": 1}},
        "score.penalty",
        "is not an option: there are no options here.",
    ),
    ({"score": "margin"}, "score.kind", "score.kind must be one of aps, ball, box"),
    ({"score": {}}, "score.kind", "score.kind is missing."),
    ({"score": 5}, "score", "score must be a name or an object with a kind, not 5."),
    ({"alpha_hat": "x"}, "alpha_hat", "alpha_hat must be 'grid', a number, or a list of 1 to 100 numbers."),
    ({"alpha_hat": [0.05, 1.5]}, "alpha_hat", "alpha_hat must lie strictly between 0 and 1, not 1.5."),
    ({"alpha_hat": 0.2}, "alpha_hat", "alpha_hat must not exceed alpha = 0.1, and 0.2 does."),
    ({"alpha": 0.1, "confidence_level": 0.9}, "confidence_level", "give either alpha or confidence_level."),
    ({"confidence_level": 1.5}, "confidence_level", "confidence_level must be less than 1, not 1.5."),
    ({"device": "cuda:x"}, "device", "device must be auto, cpu, cuda, cuda:N or mps, not 'cuda:x'."),
]


@pytest.mark.parametrize(("given", "field", "sentence"), WRONG, ids=lambda value: str(value)[:40])
def test_a_wrong_value_is_named_by_its_field(given: dict[str, Any], field: str, sentence: str) -> None:
    with pytest.raises(OptionError) as caught:
        FitOptions.read(given)
    assert caught.value.field == field
    assert sentence in str(caught.value)
    assert caught.value.errors[0].field == field


def test_every_wrong_field_is_listed() -> None:
    with pytest.raises(OptionError) as caught:
        FitOptions.read({"delta": 2, "prior": {"split": -1, "batch": 1}, "members": 0})
    assert [error.field for error in caught.value.errors] == ["delta", "prior.split", "prior.batch", "members"]


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_resolved_options_are_complete_and_read_back(task: Any) -> None:
    options = FitOptions.read({"alpha": 0.2, "prior": {"steps": 3}}).resolved(task)
    stored = options.to_json()
    assert set(stored) == set(FitOptions.model_fields) - {"confidence_level"}
    assert stored["score"]["kind"] == {"classification": "log_prob", "regression": "scaled_residual"}[task]
    assert stored["alpha_hat"] == [0.04, 0.07, 0.1, 0.13, 0.16]
    assert FitOptions.read(stored) == options
    assert FitOptions.read(stored).resolved(task) == options


def test_a_level_of_confidence_is_another_word() -> None:
    assert FitOptions.read({"confidence_level": 0.85}).alpha == 0.15
    assert FitOptions.read({"confidence_level": 0.85}).resolved("regression").to_json()["alpha"] == 0.15


def test_null_stands_for_the_default() -> None:
    assert FitOptions.read({"alpha": None, "confidence_level": None, "score": None, "size_cap": None}) == FitOptions()
    assert FitOptions.read({"alpha": None, "confidence_level": 0.8}).alpha == 0.2


def test_scores_keep_whole_numbers_whole() -> None:
    """The members' digest is of the score's options, and stored members must be found again."""
    score = {"kind": "raps", "penalty": 1, "free": 2}
    assert repr(FitOptions.read({"score": score}).to_json()["score"]) == repr(score)
    assert FitOptions.read({"score": "raps"}).to_json()["score"] == {"kind": "raps", "penalty": 0.01, "free": 2}


def test_numbers_of_numpy_are_numbers() -> None:
    given = {"alpha": np.float64(0.2), "members": np.int64(3), "alpha_hat": np.float64(0.1)}
    options = FitOptions.read(given)
    assert (options.alpha, options.members, options.levels) == (0.2, 3, (0.1,))


def test_the_schema_accepts_what_is_stored_and_refuses_what_is_wrong() -> None:
    schema = FitOptions.model_json_schema()
    stored = FitOptions.read({}).resolved("classification").to_json()
    jsonschema.validate(stored, schema)
    for wrong in ({"alpha": 2}, {"score": {"kind": "margin"}}, {"prior": {"stps": 1}}, {"method": "magic"}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**stored, **wrong}, schema)


def test_every_option_has_a_sentence() -> None:
    schema = FitOptions.model_json_schema()
    for properties in (schema["properties"], *(section["properties"] for section in schema["$defs"].values())):
        for name, field in properties.items():
            assert "$ref" in field or field["description"], name


def test_options_are_read_without_torch() -> None:
    code = "import sys; from certiset.core.fit.options import FitOptions; FitOptions.read({'alpha': 0.2})"
    done = subprocess.run([sys.executable, "-c", f"{code}; sys.exit('torch' in sys.modules)"], check=False)
    assert done.returncode == 0
