"""Tensors of the Open Inference Protocol: what is scored are the numbers that were sent, in the shape of the model."""

import json
from typing import Any

import httpx
import numpy as np
import pytest

from certiset.core.errors import OptionError
from certiset.service.http.open_inference import read_request
from tests.core.fit.problems import class_data
from tests.service.server import Server


def read(datatype: str, data: list[Any], shape: list[int] | None = None, raw: bytes = b"") -> Any:
    tensor: dict[str, Any] = {"name": "x", "shape": shape or [1, len(data)], "datatype": datatype, "data": data}
    if raw:
        tensor |= {"data": None, "parameters": {"binary_data_size": len(raw)}}
    return read_request(json.dumps({"inputs": [tensor]}).encode(), None, memoryview(raw), 100)[1]


@pytest.mark.parametrize(
    ("datatype", "data", "sentence"),
    [
        ("INT8", [1, 300], "data hold 300, which is outside of INT8, which reaches from -128 to 127."),
        ("UINT8", [-1], "data hold -1, which is outside of UINT8"),
        ("INT32", [2.5], "data hold 2.5, which is no whole number, as INT32 has them."),
        ("INT64", [2**63], "which is outside of INT64"),
        ("INT64", [2.0**63], "which is outside of INT64"),
        ("UINT64", [2.0**64], "which is outside of UINT64"),
        ("BOOL", [0, 2], "data hold 2, which is outside of BOOL, which reaches from 0 to 1."),
        ("BOOL", [0.5], "data hold 0.5, which is no whole number"),
        ("FP16", [1.0, 70000], r"data hold 70000, which is too large for FP16."),
        ("FP32", [1e39], r"data hold 1e\+39, which is too large for FP32."),
    ],
)
def test_numbers_that_do_not_survive_the_cast_are_refused(datatype: str, data: list[Any], sentence: str) -> None:
    with pytest.raises(OptionError, match=sentence) as caught:
        read(datatype, data)
    assert caught.value.field == "inputs.0.data"


@pytest.mark.parametrize(
    ("datatype", "data", "expected"),
    [
        ("INT8", [-128, 127.0], [-128, 127]),
        ("UINT64", [2**64 - 1], [2**64 - 1]),
        ("INT64", [-(2**63)], [-(2**63)]),
        ("BOOL", [True, 0, 1.0], [1, 0, 1]),
        ("FP16", [0.1, 65504], [np.float16(0.1), 65504]),
        ("FP32", [True, 0.1], [1, np.float32(0.1)]),
    ],
)
def test_numbers_that_survive_it_are_what_they_were(datatype: str, data: list[Any], expected: list[Any]) -> None:
    assert read(datatype, data).tolist() == [expected]


def test_nested_data_have_the_shape_that_is_said() -> None:
    assert read("FP32", [[1, 2, 3], [4, 5, 6]], [2, 3]).tolist() == [[1, 2, 3], [4, 5, 6]]
    assert read("FP32", [1, 2, 3, 4, 5, 6], [2, 3]).tolist() == [[1, 2, 3], [4, 5, 6]]
    with pytest.raises(OptionError, match="one flat list, or nested as the shape says"):
        read("FP32", [[1, 2, 3], [4, 5, 6]], [3, 2])


def test_bytes_of_truth_values_are_0_and_1() -> None:
    assert read("BOOL", [], [1, 2], b"\x01\x00").tolist() == [[True, False]]
    with pytest.raises(OptionError, match="bytes of 0 and 1 alone"):
        read("BOOL", [], [1, 2], b"\x01\x02")


def test_a_tensor_of_another_shape_is_refused_however_many_numbers_it_has(server: Server, ada: httpx.Client) -> None:
    pool = server.id("pool")
    numbers = [0, 1, 2, 3, 2, 1] * 2
    for shape, status in (([2, 6], 200), ([2, 3, 2], 422), ([1, 12], 422), ([2, 6, 1], 422), ([2, 1, 6], 422)):
        tensor = {"name": "x", "shape": shape, "datatype": "FP32", "data": numbers}
        answer = ada.post(f"/v2/models/{pool}/infer", json={"inputs": [tensor]})
        assert answer.status_code == status, shape
    x = class_data(4, 3)[0]
    asked = {"predictor": server.id("classification")}
    for rows in (x.reshape(2, 2, 2), x[:, :, None]):
        answer = ada.post("/predict_set", json={**asked, "x": rows.tolist()})
        assert answer.status_code == 422
        assert "The model takes inputs of shape (2,), but x has rows of shape" in answer.json()["detail"]
