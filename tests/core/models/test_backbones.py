"""Laws of every backbone. A backbone's own test says how one is made and what it computes, and inherits them."""

from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from certiset.core.errors import ModelError
from certiset.core.models import Manifest, Model
from certiset.core.models.backbones import BACKBONES
from certiset.core.models.backbones.lenet5 import lenet5
from certiset.core.models.backbones.torchvision import torchvision_features
from tests.core.graphs.dishonest import DISHONEST
from tests.core.models import onnx_files
from tests.devices import DTYPES


class BackboneLaws:
    section: ClassVar[dict[str, Any]]
    """of the manifest"""
    input_shape: ClassVar[tuple[int, ...]] = (4,)
    tolerance: ClassVar[float] = 1e-4

    def weights(self) -> dict[str, Tensor]:
        return {}

    def onnx(self) -> bytes | None:
        return None

    def expected(self, x: Tensor) -> Tensor:
        """(n, features) for float32 inputs."""
        raise NotImplementedError

    def manifest(self, **changes: Any) -> dict[str, Any]:
        return {
            "task": "regression",
            "input_shape": list(self.input_shape),
            "backbone": self.section,
            "head": {"kind": "identity"},
            **changes,
        }

    def model(self) -> Model:
        return Model.from_manifest(self.manifest(), self.weights(), onnx=self.onnx())

    def inputs(self, rows: int) -> Any:
        return np.random.default_rng(0).normal(size=(rows, *self.input_shape)).astype(np.float32)

    def test_its_part_of_the_manifest_reads_back(self) -> None:
        manifest = Manifest.parse(self.manifest())
        assert type(manifest.backbone) is BACKBONES[self.section["kind"]]
        assert manifest.backbone.kind == self.section["kind"]
        assert manifest.backbone.to_json() == self.section
        assert Manifest.parse(manifest.to_json()) == manifest

    def test_a_field_that_it_does_not_have_is_refused(self) -> None:
        with pytest.raises(ModelError, match="backbone has no field 'colour'; known are kind, name") as caught:
            Manifest.parse(self.manifest(backbone=self.section | {"colour": "blue"}))
        assert caught.value.field == "backbone.colour"

    @pytest.mark.parametrize("name", [None, 5, "n" * 201, "\x00"])
    def test_a_name_is_printable_text(self, name: Any) -> None:
        with pytest.raises(ModelError, match=r"backbone\.name must") as caught:
            Manifest.parse(self.manifest(backbone=self.section | {"name": name}))
        assert caught.value.field == "backbone.name"

    def test_a_name_is_kept(self) -> None:
        named = self.section | {"name": "resnet18"}
        assert Manifest.parse(self.manifest(backbone=named)).backbone.to_json() == named

    @pytest.mark.parametrize("dtype", DTYPES)
    def test_it_computes_what_it_should_in_the_type_that_is_asked_for(self, dtype: torch.dtype) -> None:
        x = self.inputs(3)
        found = self.model().features(x, torch.device("cpu"), dtype)
        assert found.dtype == dtype
        assert found.dim() == 2
        assert not found.requires_grad
        assert found.numpy() == pytest.approx(self.expected(torch.from_numpy(x)).numpy(), abs=self.tolerance)

    def test_a_row_does_not_depend_on_the_others(self) -> None:
        model, x = self.model(), self.inputs(3)
        together = model.features(x, torch.device("cpu"), torch.float32)
        for row in range(3):
            alone = model.features(x[row : row + 1], torch.device("cpu"), torch.float32)
            assert torch.allclose(alone[0], together[row], atol=self.tolerance)

    def test_its_rows_are_proved_to_be_treated_one_by_one(self) -> None:
        model = self.model()
        assert (model.rows, model.rows_reason) == ("proved", None)

    def test_its_tensors_build_it_again(self) -> None:
        model = self.model()
        model.features(self.inputs(2), torch.device("cpu"), torch.float64)
        assert all(name.startswith("backbone.") for name in model.backbone.tensors())
        again = Model.from_manifest(model.manifest.to_json(), model.tensors())
        assert again.sha256 == model.sha256 == self.model().sha256


class TestNone(BackboneLaws):
    section: ClassVar[dict[str, Any]] = {"kind": "none"}
    input_shape = (2, 3)
    tolerance = 0.0

    def expected(self, x: Tensor) -> Tensor:
        return x.flatten(1)

    def test_it_alone_is_quick_and_only_graphs_are_foreign(self) -> None:
        assert [kind for kind in BACKBONES if BACKBONES[kind].is_quick] == ["none"]
        assert [kind for kind in BACKBONES if BACKBONES[kind].is_foreign] == ["in_process", "onnx"]


class TestOnnx(BackboneLaws):
    section: ClassVar[dict[str, Any]] = {"kind": "onnx"}

    def onnx(self) -> bytes:
        return onnx_files.linear()

    def expected(self, x: Tensor) -> Tensor:
        return x @ torch.from_numpy(onnx_files.MATRIX)

    def test_files_beside_it_are_not_read(self) -> None:
        with pytest.raises(ModelError, match="The ONNX model cannot be loaded"):
            Model.from_manifest(self.manifest(), onnx=onnx_files.linear(external=True))

    def test_what_is_no_model_is_refused(self) -> None:
        with pytest.raises(ModelError, match="The ONNX model cannot be loaded"):
            Model.from_manifest(self.manifest(), onnx=b"not a model")
        with pytest.raises(ModelError, match=r"no \.onnx file was given") as caught:
            Model.from_manifest(self.manifest())
        assert caught.value.field == "backbone.kind"

    def test_a_graph_that_mixes_rows_says_so(self) -> None:
        model = Model.from_manifest(self.manifest(), onnx=DISHONEST["centred over rows"]())
        assert (model.rows, model.rows_reason) == ("one_by_one", "ReduceMean summarises over rows")

    def test_inputs_of_another_shape_are_refused(self) -> None:
        with pytest.raises(ModelError, match=r"takes rows of shape \(4,\), and x has rows of shape \(5,\)"):
            Model.from_manifest(self.manifest(input_shape=[5]), onnx=self.onnx())


class ModuleLaws(BackboneLaws):
    """Of those that are torch modules."""

    def module(self) -> nn.Module:
        raise NotImplementedError

    def weights(self) -> dict[str, Tensor]:
        torch.manual_seed(0)
        return {f"backbone.{name}": value for name, value in self.module().state_dict().items()}

    def expected(self, x: Tensor) -> Tensor:
        torch.manual_seed(0)
        with torch.no_grad():
            return self.module().eval()(x).flatten(1)

    def test_weights_that_do_not_fit_are_refused(self) -> None:
        weights = self.weights()
        del weights[next(iter(weights))]
        with pytest.raises(ModelError, match="The backbone's weights do not fit"):
            Model.from_manifest(self.manifest(), weights)

    def test_inputs_of_another_shape_are_refused(self) -> None:
        with pytest.raises(ModelError, match=r"The backbone does not take inputs of shape \(7, 28, 28\)") as caught:
            Model.from_manifest(self.manifest(input_shape=[7, 28, 28]), self.weights())
        assert caught.value.field == "input_shape"


class TestLenet5(ModuleLaws):
    section: ClassVar[dict[str, Any]] = {"kind": "lenet5"}
    input_shape = (1, 28, 28)

    def module(self) -> nn.Module:
        return lenet5()

    def test_it_has_400_features(self) -> None:
        assert self.model().outputs == 400


class TestTorchvision(ModuleLaws):
    section: ClassVar[dict[str, Any]] = {"kind": "torchvision", "name": "resnet18"}
    input_shape = (3, 32, 32)

    def module(self) -> nn.Module:
        return torchvision_features("resnet18")

    def test_the_name_must_be_one_of_torchvision(self) -> None:
        for name, words in {"os": "there is none called 'os'", "": "there is none called ''"}.items():
            with pytest.raises(ModelError, match=words) as caught:
                Model.from_manifest(self.manifest(backbone={"kind": "torchvision", "name": name}))
            assert caught.value.field == "backbone.name"

    def test_a_manifest_alone_allocates_nothing(self) -> None:
        with pytest.raises(ModelError, match="weights do not fit torchvision's vit_h_14"):
            Model.from_manifest(self.manifest(backbone={"kind": "torchvision", "name": "vit_h_14"}))

    def test_one_that_cannot_be_measured_without_memory_is_refused(self) -> None:
        with pytest.raises(ModelError, match="torchvision's regnet_y_400mf is not supported as a backbone") as caught:
            Model.from_manifest(self.manifest(backbone={"kind": "torchvision", "name": "regnet_y_400mf"}))
        assert caught.value.field == "backbone.name"


def test_every_backbone_is_held_to_the_laws() -> None:
    tested = {kind.section["kind"] for kind in (TestNone, TestOnnx, TestLenet5, TestTorchvision)}
    # Models in memory have no file to be built from; tests/core/models/sources has their tests.
    assert tested == {kind for kind in BACKBONES if not BACKBONES[kind].is_in_process}
