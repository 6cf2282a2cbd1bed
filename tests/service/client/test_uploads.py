"""Data and models by the client: files, arrays, data frames, and lists over all pages."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from safetensors.numpy import save_file

from certiset.core.errors import DataError
from certiset.service.client import ApiError, Client
from tests.core.fit.problems import QUICK, class_data, class_model


def test_datasets(client: Client, file: Path, tmp_path: Path) -> None:
    x, y = class_data(50, 11)
    made = client.datasets.upload(x=x, y=y, name="fifty")
    assert (made.rows, made.x_shape, made.y_kind, made.name) == (50, (2,), "labels", "fifty")
    assert client.datasets.upload(x=x, y=y) == made
    table = tmp_path / "houses.csv"
    table.write_text("area,price\n" + "".join(f"{k},{k / 2}\n" for k in range(1, 30)))
    named = client.datasets.upload(table, target="price")
    assert (named.target, named.name) == ("price", "houses")
    assert client.datasets.get(made.id) == made
    # Columns are described where one data set is asked for.
    assert {one.model_copy(update={"columns": None}) for one in (made, named)} <= set(client.datasets.list())
    client.datasets.delete(made.id)
    with pytest.raises(ApiError) as refused:
        client.datasets.get(made.id)
    assert refused.value.status == 404
    with pytest.raises(TypeError, match="both x and y"):
        client.datasets.upload(x=x)
    with pytest.raises(FileNotFoundError):
        client.datasets.upload(tmp_path / "nowhere.npz")


def test_data_frames_keep_names_text_and_what_is_missing(client: Client) -> None:
    columns = {"age": [30.5, None, 41.0], "patient": ["ann", None, "Zoë"], "file": ["u", "v", "w"], "dose": [1, 2, 3]}
    for made in (
        client.datasets.upload(pa.table({**columns, "effect": [0, 1, 0]}), target="effect"),
        client.datasets.upload(x=pa.table(columns), y=[0, 1, 0], target="effect"),
    ):
        assert (made.rows, made.x_shape, made.y_kind, made.target) == (3, (2,), "labels", "effect")
        found = {column.name: (column.kind, column.missing, column.distinct) for column in made.columns or ()}
        assert found == {
            "age": ("number", 1, 2),
            "dose": ("number", 0, 3),
            "patient": ("text", 1, 2),
            "file": ("text", 0, 3),
        }
    again = client.datasets.upload(pa.table({**columns, "effect": [0, 1, 0]}), target="effect")
    assert again.id == client.datasets.upload(pa.table({**columns, "effect": [0, 1, 0]}), target="effect").id
    vectors = client.datasets.upload(pa.table({"a": [1.0, 2.0], "u": [0.1, 0.2], "v": [1.5, 2.5]}), target="u, v")
    assert (vectors.x_shape, vectors.y_kind) == ((1,), "vectors")
    for wrong, target, words in (
        ({"a": [1.0], "b": [1.0]}, "c", "no column 'c' for the target"),
        ({"a": [1.0], "b": ["u"]}, "b", "'b' holds text"),
        ({"a": ["u"], "y": [1.0]}, "y", "no column of numbers"),
        ({"a": [1.0], "x": ["u"], "y": [1.0]}, "y", "cannot be named 'x'"),
    ):
        with pytest.raises(DataError, match=words):
            client.datasets.upload(pa.table(wrong), target=target)


def test_columns_of_an_uploaded_frame_are_checked_by_name_at_predict(client: Client, inputs: Any) -> None:
    x, y = class_data(400, 21)
    frame = pa.table({"width": x[:, 0], "height": x[:, 1], "label": y})
    dataset = client.datasets.upload(frame, target="label", name="named")
    ended = client.calibrations.wait(client.calibrations.start(dataset.id, inputs[1].id, **QUICK).id)
    assert ended.status == "succeeded", ended.error
    id = str(ended.predictor_id)
    plain = client.predict_set(id, x[:5], member=0)
    turned = client.predict_set(id, pa.table({"height": x[:5, 1], "width": x[:5, 0]}), member=0)
    assert [row.set for row in turned] == [row.set for row in plain]
    for wrong, words in (
        ({"width": x[:5, 0], "heigth": x[:5, 1]}, "does not know: 'heigth'"),
        ({"width": x[:5, 0]}, "takes a column 'height', and the data have none"),
    ):
        with pytest.raises(DataError, match=words):
            client.predict_set(id, pa.table(wrong), member=0)


def test_lists_go_on_over_all_pages(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    made = [client.datasets.upload(x=[[k], [k + 1]], y=[0.5, 1.5]).id for k in range(5)]
    send = client._connection.send

    def two_a_page(method: str, path: str, **request: Any) -> Any:
        request["params"]["limit"] = 2
        return send(method, path, **request)

    monkeypatch.setattr(client._connection, "send", two_a_page)
    listed = [dataset.id for dataset in client.datasets.list()]
    assert listed[:5] == made[::-1]
    assert len(listed) == len(set(listed))


def test_models(client: Client, tmp_path: Path) -> None:
    model = class_model()
    weights = {name: tensor.numpy() for name, tensor in model.tensors().items()}
    save_file(weights, tmp_path / "weights.safetensors")
    of_arrays = client.models.upload(model.manifest.to_json(), weights=weights)
    of_file = client.models.upload(model.manifest.to_json(), weights=tmp_path / "weights.safetensors")
    assert of_arrays == of_file
    assert (of_arrays.task, of_arrays.classes, of_arrays.input_shape) == ("classification", 3, (2,))
    assert client.models.get(of_arrays.id) == of_arrays
    assert of_arrays.id in {found.id for found in client.models.list()}
    bare = client.models.upload({"name": "logits", "task": "classification", "classes": 4, "input_shape": [4]})
    assert bare.classes == 4
    with pytest.raises(ApiError, match=r"backbone\.kind"):
        client.models.upload({"task": "regression", "input_shape": [1], "backbone": {"kind": "magic"}})


def test_a_model_with_an_onnx_backbone(client: Client, tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    make, kind = onnx.helper, onnx.TensorProto.FLOAT
    graph = make.make_graph(
        [make.make_node("Relu", ["x"], ["features"])],
        "relu",
        [make.make_tensor_value_info("x", kind, ["rows", 2])],
        [make.make_tensor_value_info("features", kind, ["rows", 2])],
    )
    onnx.save(make.make_model(graph, opset_imports=[make.make_opsetid("", 17)], ir_version=8), tmp_path / "relu.onnx")
    manifest = {
        "name": "relu",
        "task": "classification",
        "classes": 2,
        "input_shape": [2],
        "backbone": {"kind": "onnx"},
    }
    assert client.models.upload(manifest, backbone=tmp_path / "relu.onnx").classes == 2
