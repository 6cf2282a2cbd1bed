"""A stranger's model is first built in a process of its own, whose end is a sentence here."""

from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import save_file

from certiset.core.errors import ModelError
from certiset.core.jobs import model_trial
from certiset.core.jobs.model_trial import try_model
from certiset.core.models.backbones.lenet5 import lenet5
from tests.core.models import onnx_files

MANIFEST: dict[str, Any] = {"task": "regression", "input_shape": [4], "backbone": {"kind": "onnx"}}


def file(folder: Path, content: bytes) -> Path:
    (folder / "model.onnx").write_bytes(content)
    return folder / "model.onnx"


def test_a_model_that_loads_passes(tmp_path: Path) -> None:
    try_model(MANIFEST, None, file(tmp_path, onnx_files.linear()))
    save_file({f"backbone.{k}": v for k, v in lenet5().state_dict().items()}, tmp_path / "weights.safetensors")
    images = {"task": "regression", "input_shape": [1, 28, 28], "backbone": {"kind": "lenet5"}}
    try_model(images, tmp_path / "weights.safetensors", None)


def test_what_the_model_is_refused_for_is_said_as_outside_the_sandbox(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="The ONNX model cannot be loaded"):
        try_model(MANIFEST, None, file(tmp_path, b"not a model"))
    manifest = MANIFEST | {"head": {"kind": "mlp", "widths": [3, 1]}}
    with pytest.raises(ModelError, match=r"The weights lack head\.0\.weight") as caught:
        try_model(manifest, None, file(tmp_path, onnx_files.linear()))
    assert caught.value.field == "weights"


def test_a_model_that_asks_for_a_terabyte_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"The ONNX model|The model could not be run on a test input"):
        try_model(MANIFEST, None, file(tmp_path, onnx_files.greedy()))


def test_a_model_that_never_ends_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_trial, "_SECONDS", 12)
    sentence = (
        "The model could not be run on a test input, with at most 6 GiB and 12 seconds: its process .*(12|SIGXCPU)"
    )
    with pytest.raises(ModelError, match=sentence):
        try_model(MANIFEST, None, file(tmp_path, onnx_files.endless()))


def test_a_process_that_has_too_little_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_trial, "_MEMORY", 2**26)
    with pytest.raises(ModelError, match="The model could not be run on a test input"):
        try_model(MANIFEST, None, file(tmp_path, onnx_files.linear()))
