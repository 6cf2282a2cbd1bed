"""Small files that unpack to much: the API holds none of it, neither while it reads them nor when they are used."""

import io
import json
from itertools import pairwise
from typing import Any

import httpx
import numpy as np
import torch
from safetensors.numpy import save as save_numpy
from safetensors.torch import save

from tests.servers import most_memory
from tests.service.server import Server

MEMORY = 100 * 2**20


def test_data_that_unpack_to_much_are_stored_looked_at_and_queued_without_memory(
    server: Server, ada: httpx.Client
) -> None:
    rows, width = 2**18, 2**10
    stream = io.BytesIO()
    np.savez_compressed(stream, x=np.zeros((rows, width), dtype=np.uint8), y=np.arange(rows) % 3)
    assert len(stream.getvalue()) < 2_000_000
    manifest = {"name": "wide", "task": "classification", "classes": 3, "input_shape": [width]}
    weights = {"head.0.weight": np.ones((3, width), dtype=np.float32), "head.0.bias": np.zeros(3, dtype=np.float32)}
    form: dict[str, Any] = {
        "manifest": (None, json.dumps({**manifest, "head": {"kind": "mlp", "widths": [width, 3]}})),
        "weights": ("w.safetensors", save_numpy(weights)),
    }
    model = ada.post("/models", files=form).json()["id"]
    with most_memory(server.process.pid) as grown:
        stored = ada.post("/datasets", files={"file": ("bomb.npz", stream.getvalue())})
        assert stored.status_code == 201, stored.text
        dataset = stored.json()["id"]
        assert ada.get(f"/datasets/{dataset}/rows").status_code == 200
        queued = ada.post("/calibrations", json={"dataset_id": dataset, "model_id": model})
        assert queued.status_code == 202, queued.text
    assert ada.post(f"{queued.headers['location']}/cancel").status_code == 202
    assert ada.delete(f"/datasets/{dataset}").status_code == 204
    for file in (server.settings.home / "artifacts").glob("??/*"):
        if file.stat().st_size > rows * width:
            file.unlink()
    assert grown[0] < MEMORY, "it was three and a half times the data"


def test_weights_of_one_byte_each_are_counted_as_the_floats_that_they_become(server: Server, ada: httpx.Client) -> None:
    widths = [1000, 1200, 1]
    manifest = {"name": "bytes", "task": "regression", "input_shape": [1000], "head": {"kind": "mlp", "widths": widths}}
    weights = {
        f"head.{layer}.{name}": torch.zeros(shape, dtype=torch.float8_e4m3fn)
        for layer, (inputs, outputs) in enumerate(pairwise(widths))
        for name, shape in (("weight", (outputs, inputs)), ("bias", (outputs,)))
    }
    content = save(weights)
    assert len(content) < 1_500_000
    form: dict[str, Any] = {"manifest": (None, json.dumps(manifest)), "weights": ("w.safetensors", content)}
    with most_memory(server.process.pid) as grown:
        answer = ada.post("/models", files=form)
    assert answer.status_code == 422, answer.text
    sentence = "The model has 4,809,604 bytes as 32-bit floats, and at most 2,000,000 are accepted."
    assert answer.json()["detail"] == sentence
    assert grown[0] < MEMORY
