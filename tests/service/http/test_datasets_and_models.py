"""Uploads over HTTP: kept once, refused clearly, and nothing left behind."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from safetensors.numpy import save

from tests.core.data.parquet import CONTRADICTORY, NAMELESS, with_footer
from tests.core.graphs.chance import RANDOM
from tests.core.graphs.dishonest import DISHONEST
from tests.service.bodies import npz
from tests.service.server import Server

MANIFEST = {"name": "logits", "task": "classification", "classes": 3, "input_shape": [3]}


def upload(client: httpx.Client, filename: str, content: bytes, **fields: str) -> httpx.Response:
    return client.post("/datasets", files={"file": (filename, content)}, data=fields)


def leftovers(server: Server) -> list[Path]:
    folder = server.settings.scratch
    temporary = server.settings.home / "artifacts" / "tmp"
    return [file for place in (folder, temporary) if place.exists() for file in place.iterdir()]


def test_an_upload_is_kept_once(server: Server, ada: httpx.Client) -> None:
    content = npz(x=np.arange(8.0).reshape(4, 2), y=np.array([0, 1, 0, 1]))
    first = upload(ada, "data.npz", content, name="my data")
    assert first.status_code == 201
    body = first.json()
    assert (body["name"], body["rows"], body["x_shape"], body["y_kind"]) == ("my data", 4, [2], "labels")
    assert first.headers["location"] == f"/datasets/{body['id']}"
    again = upload(ada, "data.npz", content, name="another name")
    assert (again.status_code, again.json()) == (200, body)
    with server.client("eve") as eve:
        hers = upload(eve, "data.npz", content)
        assert hers.status_code == 201
        assert eve.delete(f"/datasets/{hers.json()['id']}").status_code == 204
    assert ada.get(f"/datasets/{body['id']}").json() == body
    assert body in ada.get("/datasets").json()["items"]
    assert ada.delete(f"/datasets/{body['id']}").status_code == 204
    assert ada.get(f"/datasets/{body['id']}").status_code == 404
    assert ada.delete(f"/datasets/{body['id']}").status_code == 404


def test_a_table_keeps_its_columns(ada: httpx.Client) -> None:
    content = b"age,patient,dose,y\n30.5,ann,1,0\n,bob,2,1\n41,ann,3,0\n"
    made = upload(ada, "table.csv", content)
    assert made.status_code == 201, made.text
    body = made.json()
    assert body["columns"] == [
        {"name": "age", "kind": "number", "missing": 1, "distinct": 2},
        {"name": "dose", "kind": "number", "missing": 0, "distinct": 3},
        {"name": "patient", "kind": "text", "missing": 0, "distinct": 2},
    ]
    assert ada.get(f"/datasets/{body['id']}").json() == body
    assert upload(ada, "table.csv", content).json() == body
    rows = ada.get(f"/datasets/{body['id']}/rows").json()
    assert (rows["columns"], rows["x"]) == (["age", "dose"], [[30.5, 1], [None, 2], [41, 3]])
    listed = next(one for one in ada.get("/datasets").json()["items"] if one["id"] == body["id"])
    assert listed == {**body, "columns": None}


def bomb() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        header = io.BytesIO()
        np.lib.format.write_array_header_1_0(
            header, {"descr": "<f8", "fortran_order": False, "shape": (2**30 + 2**26,)}
        )
        with archive.open("x.npy", "w", force_zip64=True) as entry:
            entry.write(header.getvalue())
        archive.writestr("y.npy", npz(y=np.zeros(2)))
    return stream.getvalue()


HOSTILE: dict[str, tuple[str, bytes, int]] = {
    "zip bomb by header": ("d.npz", bomb(), 422),
    "pickle in npz": ("d.npz", npz(x=np.array([{"a": 1}, 2], dtype=object), y=np.zeros(2)), 422),
    "a million columns": ("d.csv", b",".join(b"c%d" % i for i in range(10**5 + 5)) + b",y\n", 422),
    "infinity": ("d.csv", b"a,y\n1,0\n1e999,1\n", 422),
    "a truth that is missing": ("d.csv", b"a,y\n1,0\n2,nan\n", 422),
    "huge integers": ("d.json", b'{"x": [[1], [' + b"9" * 1000 + b']], "y": [0, 1]}', 422),
    "broken utf-8": ("d.csv", b"a,y\n\xff\xfe,1\n", 422),
    "truncated parquet": ("d.parquet", b"PAR1\x00\x00\x00\x00PAR1", 422),
    "parquet that aborts its library": ("d.parquet", with_footer(CONTRADICTORY), 422),
    "parquet with a broken name": ("d.parquet", with_footer(NAMELESS), 422),
    "deep json": ("d.json", b"[" * 50_000, 422),
    "an executable": ("d.exe", b"MZ", 415),
    "no name": ("", b"x", 422),
    "too large": ("d.csv", b"a,y\n" + b"1,0\n" * 600_000, 413),
    "a path as name": ("../../etc/passwd.csv", b"a,y\n", 422),
    "empty": ("d.npz", b"", 422),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_uploads_are_problems_and_leave_nothing(server: Server, ada: httpx.Client, name: str) -> None:
    filename, content, status = HOSTILE[name]
    answer = upload(ada, filename, content)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["detail"]
    assert [error["where"] for error in answer.json().get("errors", [])] == ([] if status == 413 else ["file"])
    assert leftovers(server) == []


def test_forms_that_are_not_what_they_should_be(server: Server, ada: httpx.Client) -> None:
    for path in ("/datasets", "/models"):
        assert ada.post(path, json={"file": "x"}).status_code == 415
        headers = {"Content-Type": "multipart/form-data; boundary=x"}
        assert ada.post(path, content=b"nonsense", headers=headers).status_code in (400, 422)
        assert ada.post(path, files={"other": b"x"}).status_code == 422
    assert ada.post("/datasets", data={"file": "text"}, files={"other": b"x"}).status_code == 422
    assert upload(ada, "d.csv", b"a,y\n1,0\n2,1\n", target="nothing").status_code == 422
    assert leftovers(server) == []


def models(client: httpx.Client, manifest: Any, **files: bytes) -> httpx.Response:
    text = manifest if isinstance(manifest, str) else json.dumps(manifest)
    return client.post("/models", files={"manifest": (None, text), **files})


def onnx_with_outside_data(location: str) -> bytes:
    weight = helper.make_tensor("w", TensorProto.FLOAT, [3, 3], np.eye(3, dtype=np.float32).tobytes(), raw=True)
    weight.ClearField("raw_data")
    weight.data_location = TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", "0"), ("length", "36")):
        entry = weight.external_data.add()
        entry.key, entry.value = key, value
    node = helper.make_node("MatMul", ["x", "w"], ["out"])
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3])],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT, ["n", 3])],
        [weight],
    )
    model: bytes = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString()
    assert onnx.load_from_string(model)
    return model


def onnx_that_needs_memory(numbers: int) -> bytes:
    """A few bytes that ask for a huge constant."""
    shape = helper.make_tensor("shape", TensorProto.INT64, [1], [numbers])
    nodes = [
        helper.make_node("ConstantOfShape", ["shape"], ["big"]),
        helper.make_node("ReduceSum", ["big"], ["sum"], keepdims=0),
        helper.make_node("Add", ["x", "sum"], ["out"]),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3])],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT, ["n", 3])],
        [shape],
    )
    model: bytes = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString()
    return model


def test_a_model_is_kept_once_and_a_wrong_one_is_refused(server: Server, ada: httpx.Client) -> None:
    first = models(ada, MANIFEST)
    assert first.status_code in (200, 201)
    assert models(ada, MANIFEST).status_code == 200
    as_file = ada.post("/models", files={"manifest": ("m.json", json.dumps(MANIFEST))})
    assert as_file.json()["id"] == first.json()["id"]
    head = {**MANIFEST, "head": {"kind": "mlp", "widths": [3, 3]}}
    weights = save({"head.0.weight": np.eye(3, dtype=np.float32), "head.0.bias": np.zeros(3, dtype=np.float32)})
    assert models(ada, head, weights=weights).status_code == 201
    nan = save({"head.0.weight": np.full((3, 3), np.nan, dtype=np.float32), "head.0.bias": np.zeros(3, dtype="f4")})
    onnx_manifest = {**MANIFEST, "backbone": {"kind": "onnx"}}
    wrong: list[tuple[Any, dict[str, bytes]]] = [
        ("{", {}),
        ("[" * 10_000, {}),
        ({**MANIFEST, "task": "clustering"}, {}),
        ({**MANIFEST, "input_shape": [10**6, 10**6, 10**6]}, {}),
        ({**MANIFEST, "surprise": 1}, {}),
        ({**MANIFEST, "name": "a\ud800"}, {}),
        ({**MANIFEST, "name": "a\x00b"}, {}),
        ({**MANIFEST, "name": {"a": 1}}, {}),
        ({**MANIFEST, "backbone": {"kind": "none", "name": "\ud800"}}, {}),
        ({**MANIFEST, "input_shape": [1] * 2001}, {}),
        ({**MANIFEST, "backbone": {"kind": "torchvision", "name": "vit_h_14"}}, {}),
        (onnx_manifest, {"backbone": onnx_that_needs_memory(10**11)}),
        (head, {}),
        (head, {"weights": weights[:40]}),
        (head, {"weights": b"\x80\x04K\x01."}),
        (head, {"weights": nan}),
        (onnx_manifest, {}),
        (onnx_manifest, {"backbone": b"nonsense"}),
        (onnx_manifest, {"backbone": onnx_with_outside_data("../../../../etc/hostname")}),
        (onnx_manifest, {"backbone": onnx_with_outside_data("/etc/passwd")}),
    ]
    for manifest, files in wrong:
        answer = models(ada, manifest, **files)
        assert answer.status_code == 422, (manifest, answer.text)
        assert answer.headers["content-type"] == "application/problem+json"
        assert str(server.settings.home) not in answer.text
        (error,) = answer.json()["errors"]
        assert error["where"].partition(".")[0] in ("manifest", "weights", "onnx"), error
    assert leftovers(server) == []
    assert ada.get("/models").status_code == 200


def test_a_model_says_how_its_rows_are_treated(ada: httpx.Client) -> None:
    plain = models(ada, MANIFEST).json()
    assert (plain["rows"], plain["rows_reason"]) == ("proved", None)
    manifest = {**MANIFEST, "classes": 4, "input_shape": [4], "backbone": {"kind": "onnx"}}
    mixed = models(ada, manifest, backbone=DISHONEST["centred over rows"]())
    assert mixed.status_code == 201
    found = ada.get(f"/models/{mixed.json()['id']}").json()
    assert (found["rows"], found["rows_reason"]) == ("one_by_one", "ReduceMean summarises over rows")
    refused = models(ada, manifest, backbone=RANDOM["noise"]())
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["where"] == "onnx"
    assert "draws random numbers (RandomNormalLike)" in refused.json()["detail"]
