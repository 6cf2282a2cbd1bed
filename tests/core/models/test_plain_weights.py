"""Weights of a few kilobytes are what safetensors finds in the file, or are left to a confined process."""

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors import SafetensorError
from safetensors.numpy import load, save
from safetensors.torch import save as save_torch

from certiset.core.models.plain_weights import MOST_BYTES, plain_weights

ARRAYS = {
    "head.0.weight": np.arange(6, dtype=np.float32).reshape(2, 3),
    "head.0.bias": np.array([0.5, -1.5]),
    "half": np.array([1, np.nan], dtype=np.float16),
    "count": np.array(7, dtype=np.int64),
    "bytes": np.array([0, 255], dtype=np.uint8),
    "none": np.zeros((0, 4), dtype=np.float32),
}
CONTENT = save(ARRAYS, {"format": "np"})


def read(folder: Path, content: bytes) -> dict[str, Any] | None:
    file = folder / "weights.safetensors"
    file.write_bytes(content)
    return plain_weights(file)


def assert_same(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert found.keys() == wanted.keys()
    for name, array in wanted.items():
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
        assert found[name].tobytes() == array.tobytes()


def test_arrays_are_those_of_the_file(tmp_path: Path) -> None:
    found = read(tmp_path, CONTENT)
    assert found is not None
    assert_same(found, ARRAYS)
    assert torch.as_tensor(found["head.0.bias"]).add_(1).tolist() == [1.5, -0.5], "which nothing else holds"
    assert read(tmp_path, save({})) == {}


def by_hand(header: Any, content: bytes = bytes(16)) -> bytes:
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + content


def one(**changed: Any) -> dict[str, Any]:
    return {"w": {"dtype": "F32", "shape": [1, 4], "data_offsets": [0, 16], **changed}}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x80\x04K\x01.",
        struct.pack("<Q", 2**62) + b"{}",
        struct.pack("<Q", 60_000) + b"[" * 60_000,
        struct.pack("<Q", 4) + b"\xff" * 4,
        by_hand([]),
        by_hand({"w": [1]}),
        by_hand(one(shape=[4.0])),
        by_hand(one(shape=[True, 4])),
        by_hand(one(shape=[-1, -4])),
        by_hand(one(shape=[2**62, 4])),
        by_hand(one(data_offsets=[0, 15])),
        by_hand(one(data_offsets=[-16, 0])),
        by_hand(one(), bytes(17)),
        by_hand(one(), bytes(15)),
        by_hand({**one(), "v": one()["w"]}),
        by_hand({**one(), "__metadata__": {"a": 1}}),
        by_hand(one(dtype="F8_E4M3", shape=[16])),
        save_torch({"w": torch.zeros(8, dtype=torch.bfloat16)}),
        save({"w": np.zeros(MOST_BYTES // 8)}),
    ],
)
def test_whatever_else_is_left_to_a_confined_process(tmp_path: Path, content: bytes) -> None:
    assert read(tmp_path, content) is None


@given(place=st.integers(0, len(CONTENT) - 1), byte=st.integers(0, 255))
def test_a_damaged_file_is_never_read_otherwise_than_by_safetensors(
    tmp_path_factory: pytest.TempPathFactory, place: int, byte: int
) -> None:
    content = CONTENT[:place] + bytes([byte]) + CONTENT[place + 1 :]
    found = read(tmp_path_factory.getbasetemp(), content)
    if found is not None:
        try:
            assert_same(found, load(content))
        except SafetensorError:
            assert "__metadata__" not in json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")]), "its name"
