"""A stranger's model is first built in a process of its own, whose end is a sentence here."""

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from certiset.core.errors import ModelError
from certiset.core.jobs import model_conversion
from certiset.core.jobs.model_conversion import convert_model
from certiset.core.models.backbones.lenet5 import lenet5
from tests.core.graphs.chance import RANDOM
from tests.core.graphs.dishonest import DISHONEST
from tests.core.models import onnx_files

MANIFEST: dict[str, Any] = {"task": "regression", "input_shape": [4], "backbone": {"kind": "onnx"}}


def file(folder: Path, content: bytes) -> Path:
    (folder / "model.onnx").write_bytes(content)
    return folder / "model.onnx"


def convert(manifest: dict[str, Any], weights: Path | None, onnx: Path | None, largest: int = 2**24) -> Path:
    output = (onnx or weights or Path()).with_name("stored")
    output.touch()
    assert len(convert_model(manifest, weights, onnx, output, largest).sha256) == 64
    return output


def test_a_model_that_loads_is_written_as_it_is_stored(tmp_path: Path) -> None:
    graph = file(tmp_path, onnx_files.linear())
    stored = load_file(convert(MANIFEST, None, graph))
    assert stored["backbone.onnx"].numpy().tobytes() == onnx_files.linear()
    save_file({f"backbone.{k}": v for k, v in lenet5().state_dict().items()}, tmp_path / "weights.safetensors")
    images = {"task": "regression", "input_shape": [1, 28, 28], "backbone": {"kind": "lenet5"}}
    weights = tmp_path / "weights.safetensors"
    assert set(load_file(convert(images, weights, None))) == {f"backbone.{k}" for k in lenet5().state_dict()}


def test_how_rows_are_treated_is_judged_where_the_file_is_read(tmp_path: Path) -> None:
    output = tmp_path / "stored"
    output.touch()
    for content, words in (
        (onnx_files.linear(), None),
        (DISHONEST["the first row"](), "Gather works along the axis of rows"),
    ):
        assert convert_model(MANIFEST, None, file(tmp_path, content), output, 2**24).row_proof.reason == words
    with pytest.raises(ModelError, match="draws random numbers"):
        convert(MANIFEST, None, file(tmp_path, RANDOM["noise"]()))


def test_weights_that_are_small_as_bytes_and_large_as_floats_are_refused(tmp_path: Path) -> None:
    weights = tmp_path / "weights.safetensors"
    save_file({"head.0.weight": torch.zeros(1, 4, dtype=torch.float8_e4m3fn), "head.0.bias": torch.zeros(1)}, weights)
    manifest = {"task": "regression", "input_shape": [4], "head": {"kind": "mlp", "widths": [4, 1]}}
    convert(manifest, weights, None, largest=20)
    with pytest.raises(ModelError, match="The model has 20 bytes as 32-bit floats, and at most 19 are accepted"):
        convert(manifest, weights, None, largest=19)


def test_what_the_model_is_refused_for_is_said_as_outside_the_sandbox(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="The ONNX model cannot be loaded"):
        convert(MANIFEST, None, file(tmp_path, b"not a model"))
    manifest = MANIFEST | {"head": {"kind": "mlp", "widths": [3, 1]}}
    with pytest.raises(ModelError, match=r"The weights lack head\.0\.weight") as caught:
        convert(manifest, None, file(tmp_path, onnx_files.linear()))
    assert caught.value.field == "weights"


def test_a_model_that_asks_for_a_terabyte_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"The ONNX model|The model could not be run on a test input"):
        convert(MANIFEST, None, file(tmp_path, onnx_files.greedy()))


def test_a_model_that_never_ends_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_conversion, "_SECONDS", 2)
    sentence = r"with at most 6 GiB and 2 seconds: its process (did not finish|used more CPU time)"
    with pytest.raises(ModelError, match=sentence):
        convert(MANIFEST, None, file(tmp_path, onnx_files.endless()))


def test_a_process_that_has_too_little_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_conversion, "_MEMORY", 2**26)
    with pytest.raises(ModelError, match="The model could not be run on a test input"):
        convert(MANIFEST, None, file(tmp_path, onnx_files.linear()))
