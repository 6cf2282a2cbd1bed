"""Laws of every head. A head's own test says how one is made and what it computes, and inherits them."""

from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from torch import Tensor

from certiset.core.errors import ModelError
from certiset.core.models import Manifest, Model
from certiset.core.models.heads import HEADS
from tests.core.models.weights import head_weights
from tests.devices import DTYPES

X = np.random.default_rng(0).normal(size=(7, 4)).astype(np.float32)


class HeadLaws:
    section: ClassVar[dict[str, Any]]
    """of the manifest"""

    def weights(self) -> dict[str, Tensor]:
        return {}

    def expected(self, x: Tensor) -> Tensor:
        raise NotImplementedError

    def manifest(self, **changes: Any) -> dict[str, Any]:
        return {"task": "regression", "input_shape": [4], "head": self.section, **changes}

    def model(self) -> Model:
        return Model.from_manifest(self.manifest(), self.weights())

    def test_its_part_of_the_manifest_reads_back(self) -> None:
        manifest = Manifest.parse(self.manifest())
        assert type(manifest.head) is HEADS[self.section["kind"]]
        assert manifest.head.to_json() == self.section
        assert Manifest.parse(manifest.to_json()) == manifest

    @pytest.mark.parametrize("dtype", DTYPES)
    def test_it_computes_what_it_should(self, dtype: torch.dtype) -> None:
        model = self.model()
        found = model.given_outputs(model.features(X, torch.device("cpu"), dtype))
        assert found.dtype == dtype
        assert found.shape == (7, model.outputs)
        assert torch.allclose(found.float(), self.expected(torch.from_numpy(X)), atol=1e-5)

    def test_it_has_as_many_parameters_as_it_says(self) -> None:
        model = self.model()
        assert model.head_parameters.shape == (model.head.parameters,) == model.head.fan_in().shape

    def test_its_tensors_build_it_again(self) -> None:
        model, weights = self.model(), self.weights()
        assert {name: value.shape for name, value in model.tensors().items()} == {
            name: value.shape for name, value in weights.items()
        }
        again = Model.from_manifest(model.manifest.to_json(), model.tensors())
        assert again.sha256 == model.sha256
        assert torch.equal(again.head_parameters, model.head_parameters)

    @pytest.mark.parametrize(
        ("change", "field", "sentence"),
        [
            ({"colour": 1}, "head.colour", "head has no field 'colour'; known are activation, kind, widths."),
            ({"activation": "gelu"}, "head.activation", "must be one of sigmoid, relu, tanh, not 'gelu'."),
        ],
    )
    def test_a_wrong_field_is_named(self, change: dict[str, Any], field: str, sentence: str) -> None:
        with pytest.raises(ModelError, match=sentence) as caught:
            Manifest.parse(self.manifest(head=self.section | change))
        assert caught.value.field == field


class TestIdentity(HeadLaws):
    section: ClassVar[dict[str, Any]] = {"kind": "identity"}

    def expected(self, x: Tensor) -> Tensor:
        return x

    def test_features_must_be_classes(self) -> None:
        with pytest.raises(ModelError, match="the 4 features must be the 3 classes") as caught:
            Model.from_manifest(self.manifest(task="classification", classes=3))
        assert caught.value.field == "classes"

    def test_widths_mean_nothing(self) -> None:
        section = {"kind": "identity", "widths": [9], "activation": "tanh"}
        assert Manifest.parse(self.manifest(head=section)).head.to_json() == {"kind": "identity"}


class TestMlp(HeadLaws):
    section: ClassVar[dict[str, Any]] = {"kind": "mlp", "widths": [4, 5, 3], "activation": "tanh"}

    def weights(self) -> dict[str, Tensor]:
        return head_weights(4, 5, 3)

    def expected(self, x: Tensor) -> Tensor:
        values = self.weights()
        hidden = torch.tanh(x @ values["head.0.weight"].T + values["head.0.bias"])
        return hidden @ values["head.1.weight"].T + values["head.1.bias"]

    @pytest.mark.parametrize(
        ("section", "field", "sentence"),
        [
            ({"widths": [4]}, "head.widths", "must hold at least the number of inputs and of outputs"),
            ({"widths": [4, 0, 3]}, "head.widths", "must be a list of positive whole numbers"),
            ({"widths": None}, "head.widths", "must be a list of positive whole numbers, not None"),
            ({"widths": [4] * 101}, "head.widths", r"must be a list .* not \[4, 4, 4, 4, 4, 4, \.\.\.\]"),
            ({"widths": [7, 5, 3]}, "head.widths", "starts with 7, but the backbone gives 4 features"),
            ({"widths": [4, 6, 3]}, "weights", r"head\.0\.weight must have shape \(6, 4\), not \(5, 4\)"),
            ({"widths": [4, 5, 3, 3]}, "weights", "The weights lack head.2.weight"),
        ],
    )
    def test_widths_that_do_not_fit_are_refused(self, section: dict[str, Any], field: str, sentence: str) -> None:
        with pytest.raises(ModelError, match=sentence) as caught:
            Model.from_manifest(self.manifest(head=self.section | section), self.weights())
        assert caught.value.field == field


def test_every_head_is_held_to_the_laws() -> None:
    assert {kind.section["kind"] for kind in (TestIdentity, TestMlp)} == set(HEADS)
