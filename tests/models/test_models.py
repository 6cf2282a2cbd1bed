"""Manifests and weights of every kind become models; wrong ones are refused with the field's name."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper
from safetensors.torch import save_file

from core.errors import ModelError
from core.models import Manifest, Model
from core.models.backbones import lenet5, torchvision_features
from tests.devices import DTYPES

MLP = {
    "name": "small",
    "task": "classification",
    "classes": 3,
    "input_shape": [4],
    "backbone": {"kind": "none"},
    "head": {"kind": "mlp", "widths": [4, 5, 3], "activation": "tanh"},
}


def weights(widths: list[int]) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    answer = {}
    for layer, (inputs, outputs) in enumerate(itertools.pairwise(widths)):
        answer[f"head.{layer}.weight"] = torch.randn(outputs, inputs, generator=generator)
        answer[f"head.{layer}.bias"] = torch.randn(outputs, generator=generator)
    return answer


def outputs(model: Model, x: np.ndarray, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    features = model.features(x, torch.device("cpu"), dtype)
    return model.head.forward(model.head_parameters.to(dtype).unsqueeze(0), features)[0]


def test_an_mlp_head_computes_what_torch_would(tmp_path: Path) -> None:
    values = weights([4, 5, 3])
    save_file(values, tmp_path / "weights.safetensors")
    model = Model.from_manifest(MLP, tmp_path / "weights.safetensors")
    x = np.random.default_rng(0).normal(size=(7, 4)).astype(np.float32)
    hidden = torch.tanh(torch.from_numpy(x) @ values["head.0.weight"].T + values["head.0.bias"])
    expected = hidden @ values["head.1.weight"].T + values["head.1.bias"]
    assert torch.allclose(outputs(model, x), expected, atol=1e-5)
    assert model.sha256 == Model.from_manifest(MLP, values).sha256
    assert {k: v.shape for k, v in model.tensors().items()} == {k: v.shape for k, v in values.items()}


def test_logits_computed_elsewhere_need_no_weights() -> None:
    manifest = {"task": "classification", "classes": 3, "input_shape": [3], "head": {"kind": "identity"}}
    x = np.random.default_rng(0).normal(size=(5, 3))
    assert outputs(Model.from_manifest(manifest), x, torch.float64).numpy() == pytest.approx(x)


def test_lenet5_has_400_features() -> None:
    module = lenet5()
    manifest = MLP | {"input_shape": [1, 28, 28], "backbone": {"kind": "lenet5"}}
    manifest = manifest | {"head": {"kind": "mlp", "widths": [400, 3], "activation": "sigmoid"}}
    inner = {f"backbone.{k}": v for k, v in module.state_dict().items()}
    model = Model.from_manifest(manifest, weights([400, 3]) | inner)
    x = np.random.default_rng(0).normal(size=(2, 1, 28, 28)).astype(np.float32)
    found = model.features(x, torch.device("cpu"), torch.float32)
    assert torch.allclose(found, module(torch.from_numpy(x)), atol=1e-5)
    assert Model.from_manifest(model.manifest.to_json(), model.tensors()).sha256 == model.sha256


def test_torchvision_models_by_name() -> None:
    module = torchvision_features("resnet18").eval()
    manifest = MLP | {"input_shape": [3, 32, 32], "backbone": {"kind": "torchvision", "name": "resnet18"}}
    manifest = manifest | {"head": {"kind": "mlp", "widths": [512, 3], "activation": "relu"}}
    inner = {f"backbone.{k}": v for k, v in module.state_dict().items()}
    model = Model.from_manifest(manifest, weights([512, 3]) | inner)
    x = np.random.default_rng(0).normal(size=(2, 3, 32, 32)).astype(np.float32)
    with torch.no_grad():
        expected = module(torch.from_numpy(x))
    assert torch.allclose(model.features(x, torch.device("cpu"), torch.float32), expected, atol=1e-4)


def onnx_bytes(external: bool = False) -> bytes:
    """y = x W for W of shape (4, 3)."""
    matrix = np.arange(12, dtype=np.float32).reshape(4, 3)
    tensor = helper.make_tensor("W", TensorProto.FLOAT, [4, 3], matrix.flatten())
    if external:
        tensor.ClearField("float_data")
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="../../../etc/passwd")
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "W"], ["y"])],
        "linear",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["rows", 3])],
        [tensor],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    content: bytes = onnx.ModelProto.SerializeToString(model)
    return content


@pytest.mark.parametrize("dtype", DTYPES)
def test_onnx_models_of_any_framework(dtype: torch.dtype) -> None:
    manifest = MLP | {"backbone": {"kind": "onnx"}, "head": {"kind": "identity"}}
    model = Model.from_manifest(manifest, onnx=onnx_bytes())
    x = np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32)
    expected = x @ np.arange(12, dtype=np.float32).reshape(4, 3)
    assert outputs(model, x, dtype).numpy() == pytest.approx(expected, abs=1e-4)
    again = Model.from_manifest(model.manifest.to_json(), model.tensors())
    assert outputs(again, x, dtype).numpy() == pytest.approx(expected, abs=1e-4)


def test_onnx_models_cannot_read_files_beside_them() -> None:
    manifest = MLP | {"backbone": {"kind": "onnx"}, "head": {"kind": "identity"}}
    with pytest.raises(ModelError, match="cannot be loaded"):
        Model.from_manifest(manifest, onnx=onnx_bytes(external=True))
    with pytest.raises(ModelError, match="cannot be loaded"):
        Model.from_manifest(manifest, onnx=b"not a model")
    with pytest.raises(ModelError, match=r"no \.onnx file was given"):
        Model.from_manifest(manifest)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"task": "ranking"}, "task must be one of classification, regression"),
        ({"classes": 1}, "classes must be a whole number of at least 2"),
        ({"classes": "ten"}, "classes must be a whole number"),
        ({"classes": 4}, "ends in 3 outputs, but classes is 4"),
        ({"input_shape": []}, "input_shape must be a list of positive whole numbers"),
        ({"input_shape": [5]}, "starts with 4, but the backbone gives 5 features"),
        ({"input_shape": [10**9]}, "input_shape must be a list"),
        ({"backbone": {"kind": "vgg"}}, "backbone.kind must be one of none"),
        ({"backbone": {"kind": "torchvision"}}, "backbone.name must name a torchvision model"),
        ({"backbone": {"kind": "torchvision", "name": "os"}}, "torchvision has no classification model 'os'"),
        ({"backbone": {"kind": "lenet5"}}, "the backbone's weights do not fit"),
        ({"backbone": "none"}, "backbone must be an object"),
        ({"head": {"kind": "mlp", "widths": [4], "activation": "relu"}}, "at least the number of inputs"),
        ({"head": {"kind": "mlp", "widths": [4, 3], "activation": "gelu"}}, "head.activation must be one of"),
        ({"head": {"kind": "mlp", "widths": [4, 6, 3]}}, r"head.0.weight must have shape \(6, 4\)"),
        ({"head": {"kind": "mlp", "widths": [4, 5, 5, 3]}}, "head.1.weight must have shape|lack"),
        ({"colour": "blue"}, "the manifest has no field 'colour'"),
    ],
)
def test_a_wrong_manifest_is_refused_by_the_field(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        Model.from_manifest(MLP | change, weights([4, 5, 3]))


def test_broken_weights_are_refused(tmp_path: Path) -> None:
    bad = tmp_path / "bad.safetensors"
    bad.write_bytes(b"\x00" * 100)
    with pytest.raises(ModelError, match="are not a safetensors file"):
        Model.from_manifest(MLP, bad)
    with pytest.raises(ModelError, match="cannot be read"):
        Model.from_manifest(MLP, tmp_path / "missing.safetensors")
    infinite = weights([4, 5, 3])
    infinite["head.0.bias"][0] = torch.inf
    with pytest.raises(ModelError, match=r"weight head.0.bias holds a number that is not finite"):
        Model.from_manifest(MLP, infinite)
    with pytest.raises(ModelError, match="the manifest is not JSON"):
        Manifest.parse("{")
