"""Manifests are read strictly: a wrong one is refused with the field's name."""

import json
from typing import Any

import pytest

from certiset.core.errors import ModelError
from certiset.core.models import Manifest, Model
from tests.core.models.weights import head_weights

MLP = {
    "name": "small",
    "task": "classification",
    "classes": 3,
    "input_shape": [4],
    "backbone": {"kind": "none"},
    "head": {"kind": "mlp", "widths": [4, 5, 3], "activation": "tanh"},
}


@pytest.mark.parametrize(
    ("change", "field", "message"),
    [
        ({"task": "ranking"}, "task", "task must be one of classification, regression, not 'ranking'"),
        ({"task": ["classification"]}, "task", "task must be one of"),
        ({"classes": 1}, "classes", "classes must be a whole number from 2 to 1,000,000, not 1"),
        ({"classes": "ten"}, "classes", "classes must be a whole number"),
        ({"classes": 4}, "head.widths", "ends in 3 outputs, but classes is 4"),
        ({"task": "regression"}, "classes", "classes is for classification only"),
        ({"name": "\n"}, "name", "name must be printable text of at most 200 characters"),
        ({"input_shape": []}, "input_shape", "input_shape must be a list of positive whole numbers"),
        ({"input_shape": [True]}, "input_shape", "input_shape must be a list of positive whole numbers"),
        ({"input_shape": [1] * 9}, "input_shape", "input_shape must be a list of positive whole numbers"),
        ({"input_shape": [10**9]}, "input_shape", "input_shape must be a list"),
        ({"input_shape": [5000, 5000]}, "input_shape", "at most 16,777,216 numbers in all"),
        ({"input_shape": [5]}, "head.widths", "starts with 4, but the backbone gives 5 features"),
        (
            {"backbone": {"kind": "vgg"}},
            "backbone.kind",
            "backbone.kind must be one of lenet5, none, onnx, torchvision",
        ),
        ({"backbone": {}}, "backbone.kind", "backbone.kind must be one of"),
        ({"backbone": {"kind": []}}, "backbone.kind", "backbone.kind must be one of"),
        ({"backbone": {"kind": "torchvision"}}, "backbone.name", "backbone.name must name a torchvision model"),
        ({"backbone": "none"}, "backbone", "backbone must be an object with named fields"),
        ({"head": {"kind": "linear"}}, "head.kind", "head.kind must be one of identity, mlp, not 'linear'"),
        ({"head": []}, "head", "head must be an object with named fields"),
        (
            {"colour": "blue"},
            "colour",
            "The manifest has no field 'colour'; known are backbone, classes, columns, head",
        ),
    ],
)
def test_a_wrong_manifest_is_refused_by_the_field(change: dict[str, Any], field: str, message: str) -> None:
    with pytest.raises(ModelError, match=message) as caught:
        Model.from_manifest(MLP | change, head_weights(4, 5, 3))
    assert caught.value.field == field


@pytest.mark.parametrize("text", ["{", "", "[" * 100_000, "NaN,"])
def test_what_is_not_json_is_refused(text: str) -> None:
    with pytest.raises(ModelError, match="The manifest is not JSON") as caught:
        Manifest.parse(text)
    assert caught.value.field == "manifest"


@pytest.mark.parametrize("text", ["[]", "3", "null", '"none"'])
def test_json_that_is_no_object_is_refused(text: str) -> None:
    with pytest.raises(ModelError, match="The manifest must be an object with named fields"):
        Manifest.parse(text)


def test_a_manifest_is_read_from_text_a_mapping_or_itself() -> None:
    parsed = Manifest.parse(MLP)
    assert parsed == Manifest.parse(json.dumps(MLP)) == Manifest.parse(parsed) == Manifest.parse(parsed.to_json())
    assert parsed.to_json() == MLP


def test_what_is_left_out_has_a_default() -> None:
    parsed = Manifest.parse({"task": "regression", "input_shape": [2]})
    assert parsed.to_json() == {
        "name": "model",
        "task": "regression",
        "input_shape": [2],
        "backbone": {"kind": "none"},
        "head": {"kind": "identity"},
    }
