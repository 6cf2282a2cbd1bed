"""Manifest and weights become a model, whose hash stays what certificates hold."""

import base64
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from certiset.core.errors import ModelError
from certiset.core.models import Model
from tests.core.models.test_manifest import MLP
from tests.core.models.weights import head_weights

ONNX = base64.b64decode(
    "CAg6igEKEQoBeAoBVxIBeSIGTWF0TXVsEgZsaW5lYXIqOwgECAMQASIwAAAAAAAAgD8AAABAAABAQAAAgEAAAKBAAADAQAAA4EAA"
    "AABBAAAQQQAAIEEAADBBQgFXWhcKAXgSEgoQCAESDAoGEgRyb3dzCgIIBGIXCgF5EhIKEAgBEgwKBhIEcm93cwoCCANCBAoAEBE="
)
"""y = x W for W of shape (4, 3)"""


def values(*shape: int, start: int = 0) -> Any:
    count = int(np.prod(shape))
    return ((np.arange(start, start + count) % 17 - 8) / 16).astype(np.float32).reshape(shape)


def head(*widths: int) -> dict[str, Any]:
    weights = {}
    for layer, (inputs, outputs) in enumerate(itertools.pairwise(widths)):
        weights[f"head.{layer}.weight"] = values(outputs, inputs, start=layer)
        weights[f"head.{layer}.bias"] = values(outputs, start=layer + 3)
    return weights


LENET5 = {
    "backbone.0.weight": values(6, 1, 5, 5),
    "backbone.0.bias": values(6),
    "backbone.3.weight": values(16, 6, 5, 5),
    "backbone.3.bias": values(16),
}
STORED: dict[str, tuple[dict[str, Any], Any, bytes | None]] = {
    "7186fcc9e1dbd253dab6de5c37313bd5c93ef41ff64e6e28c8dd3319fd336601": (
        {"task": "classification", "classes": 3, "input_shape": [3]},
        None,
        None,
    ),
    "857bfb34a3532dbb86a386d7737e70c708d98c92405b18bb85b3a2c94865f7e0": (
        {
            "name": "n",
            "task": "regression",
            "input_shape": [2, 2],
            "backbone": {"kind": "none", "name": "b"},
            "head": {"kind": "identity", "widths": [9], "activation": "tanh"},
        },
        None,
        None,
    ),
    "c3102967ce84ba3344bf8835c82c1f0fcc1e53b0448f909b2558c4d056859480": (MLP, head(4, 5, 3), None),
    "d6c647c8f607ccd174efb4fe1128590e853e4044618b6e565044ceb2a9b2e2ee": (
        {
            "name": "small",
            "task": "regression",
            "input_shape": [4],
            "backbone": {"kind": "none", "name": ""},
            "head": {"kind": "mlp", "widths": [4, 1]},
        },
        head(4, 1),
        None,
    ),
    "4a160ac660ce8f0bf5e5ee15ff4ad34ad7197b18dd4d0b46c0e90d4c5b9c37a9": (
        {
            "name": "linear",
            "task": "classification",
            "classes": 3,
            "input_shape": [4],
            "backbone": {"kind": "onnx"},
        },
        None,
        ONNX,
    ),
    "7113bcf8f521d9e6543a77a231e836beafbec43e56df29bd69dc3c19b40cb5ba": (
        {
            "name": "digits",
            "task": "classification",
            "classes": 10,
            "input_shape": [1, 28, 28],
            "backbone": {"kind": "lenet5"},
            "head": {"kind": "mlp", "widths": [400, 10], "activation": "sigmoid"},
        },
        head(400, 10) | LENET5,
        None,
    ),
}
"""models by the hash that version 0.1 gave them"""


@pytest.mark.parametrize("digest", STORED, ids=["identity", "named", "mlp", "default activation", "onnx", "lenet5"])
def test_the_hash_stays_what_certificates_hold(digest: str) -> None:
    manifest, weights, onnx = STORED[digest]
    model = Model.from_manifest(manifest, weights, onnx=onnx)
    assert model.sha256 == digest
    assert Model.from_manifest(model.manifest.to_json(), model.tensors()).sha256 == digest


def test_weights_come_from_a_file_or_as_arrays(tmp_path: Path) -> None:
    weights = head_weights(4, 5, 3)
    save_file(weights, tmp_path / "weights.safetensors")
    from_file = Model.from_manifest(MLP, tmp_path / "weights.safetensors")
    assert from_file.sha256 == Model.from_manifest(MLP, weights).sha256
    assert from_file.sha256 == Model.from_manifest(MLP, {name: w.numpy() for name, w in weights.items()}).sha256


def test_an_onnx_file_comes_from_a_path_or_as_bytes(tmp_path: Path) -> None:
    manifest = MLP | {"backbone": {"kind": "onnx"}, "head": {"kind": "identity"}}
    (tmp_path / "model.onnx").write_bytes(ONNX)
    assert (
        Model.from_manifest(manifest, onnx=tmp_path / "model.onnx").sha256
        == Model.from_manifest(manifest, onnx=ONNX).sha256
    )
    with pytest.raises(ModelError, match="cannot be read") as caught:
        Model.from_manifest(manifest, onnx=tmp_path / "missing.onnx")
    assert caught.value.field == "onnx"


def test_inputs_are_seen_once_in_chunks() -> None:
    model = Model.from_manifest({"task": "regression", "input_shape": [2]})
    x = np.random.default_rng(0).normal(size=(10_000, 2))
    assert np.array_equal(model.features(x, torch.device("cpu"), torch.float64).numpy(), x)


def test_broken_weights_are_refused(tmp_path: Path) -> None:
    bad = tmp_path / "bad.safetensors"
    bad.write_bytes(b"\x00" * 100)
    infinite = head_weights(4, 5, 3)
    infinite["head.0.bias"][0] = torch.inf
    for weights, message in (
        (bad, "The weights are not a safetensors file"),
        (tmp_path / "missing.safetensors", "cannot be read"),
        (infinite, r"The weight head\.0\.bias holds a number that is not finite"),
        ({"head.0.weight": "text"}, "The weights must be arrays of numbers"),
    ):
        with pytest.raises(ModelError, match=message) as caught:
            Model.from_manifest(MLP, weights)
        assert caught.value.field == "weights"
