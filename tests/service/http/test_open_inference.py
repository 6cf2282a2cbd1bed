"""Sets by the Open Inference Protocol."""

import json
import struct
from typing import Any

import httpx
import numpy as np

from tests.core.fit.problems import class_data
from tests.service.server import Server


def test_the_open_inference_protocol(server: Server, ada: httpx.Client) -> None:
    id, predictor = server.id("classification"), server.predictors["classification"]
    assert ada.get("/v2/health/live").json() == {"live": True}
    assert ada.get("/v2/health/ready").json() == {"ready": True}
    assert ada.get(f"/v2/models/{id}/ready").json()["ready"]
    described = ada.get(f"/v2/models/{id}").json()
    assert described["inputs"] == [{"name": "x", "datatype": "FP32", "shape": [-1, 2]}]
    x = class_data(5, 3)[0]
    tensor = {"name": "x", "shape": [5, 2], "datatype": "FP32"}
    plain = ada.post(f"/v2/models/{id}/infer", json={"id": "7", "inputs": [{**tensor, "data": x.tolist()}]}).json()
    assert plain["id"] == "7"
    outputs = {output["name"]: output for output in plain["outputs"]}
    assert [o["name"] for o in described["outputs"]] == list(outputs)
    replayed: Any = predictor.predict_set(x, member=outputs["member"]["data"])
    assert outputs["mask"]["data"] == replayed.mask.reshape(-1).tolist()
    head = json.dumps(
        {
            "inputs": [{**tensor, "parameters": {"binary_data_size": 40}}],
            "outputs": [
                {"name": "mask", "parameters": {"binary_data": True}},
                {"name": "prediction_id", "parameters": {"binary_data": True}},
            ],
            "parameters": {"member": 0},
        }
    ).encode()
    answer = ada.post(
        f"/v2/models/{id}/infer",
        content=head + x.tobytes(),
        headers={"Inference-Header-Content-Length": str(len(head)), "Content-Type": "application/octet-stream"},
    )
    length = int(answer.headers["inference-header-content-length"])
    first, second = json.loads(answer.content[:length])["outputs"]
    raw = answer.content[length:]
    sizes = [output["parameters"]["binary_data_size"] for output in (first, second)]
    assert len(raw) == sum(sizes)
    mask = np.frombuffer(raw[: sizes[0]], dtype=bool).reshape(first["shape"])
    replayed = predictor.predict_set(x, member=0)
    assert np.array_equal(mask, replayed.mask)
    (size,) = struct.unpack("<I", raw[sizes[0] : sizes[0] + 4])
    assert ada.post("/outcomes", json={"prediction_id": raw[sizes[0] + 4 :][:size].decode(), "y": 0}).status_code == 200
    refused: list[dict[str, Any]] = [
        {"inputs": [{**tensor, "data": [1, 2]}]},
        {"inputs": [{**tensor, "name": "z", "data": x.tolist()}]},
        {"inputs": [{**tensor, "data": x.tolist()}], "outputs": [{"name": "nothing"}]},
        {"inputs": []},
        {"inputs": [{**tensor, "shape": [5] + [2**40] * 5 + [0], "parameters": {"binary_data_size": 0}}]},
        {"inputs": [{**tensor, "parameters": {"binary_data_size": 40}}]},
        {"inputs": [{**tensor, "data": x.tolist()}], "parameters": {"member": "best"}},
    ]
    for wrong in refused:
        assert ada.post(f"/v2/models/{id}/infer", json=wrong).status_code == 422
