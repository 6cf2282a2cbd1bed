"""Every method of the client, against a real server with a real worker."""

import subprocess
import sys
from json import dumps
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from safetensors.numpy import save_file

from certiset.core import monitor_resources, resources
from certiset.core.certificate import Certificate
from certiset.core.errors import DataError
from certiset.core.resource_base import Resource
from certiset.core.resources import FieldProblem
from certiset.core.settings import Settings
from certiset.service.client import ApiError, Client, ClientError, Dataset, Model, PredictionSet, Progress
from certiset.service.http.access.requirements import outcomes_body
from tests.core.fit.problems import QUICK, class_data, class_model, shifted_logits, toy_data
from tests.service.server import Server
from tests.worker.deployment import ENDLESS


def test_the_client_loads_neither_torch_nor_the_web_framework_nor_the_store() -> None:
    heavy = (
        "torch",
        "fastapi",
        "starlette",
        "sqlalchemy",
        "celery",
        "certiset.core.store",
        "certiset.service.http.app",
        "scipy",
        "matplotlib",
    )
    code = f"import sys, certiset.service.client; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("method", "path", "status", "kind"),
    [
        ("get", "/datasets/{id}", "200", resources.Dataset),
        ("post", "/datasets", "201", resources.Dataset),
        ("get", "/models/{id}", "200", resources.Model),
        ("get", "/calibrations/{id}", "200", resources.Calibration),
        ("post", "/calibrations", "202", resources.Calibration),
        ("get", "/predictors/{id}", "200", resources.Predictor),
        ("get", "/predictors/{id}/monitor", "200", monitor_resources.Monitor),
        ("post", "/outcomes", "200", monitor_resources.OutcomesCounted),
        ("patch", "/outcomes/{prediction_id}", "200", monitor_resources.OutcomeState),
        ("get", "/certificates/{id}/verify", "200", resources.Verification),
        ("get", "/certificates/key", "200", resources.PublicKey),
        ("get", "/readyz", "200", resources.Ready),
    ],
)
def test_the_client_reads_what_the_server_says_it_sends(
    method: str, path: str, status: str, kind: type[Resource], document: dict[str, Any]
) -> None:
    content = document["paths"][path][method]["responses"][status]["content"]["application/json"]
    assert content["schema"] == {"$ref": f"#/components/schemas/{kind.__name__}"}
    assert set(document["components"]["schemas"][kind.__name__]["properties"]) == set(kind.model_fields)


@pytest.fixture(scope="module")
def document(deployment: Server) -> dict[str, Any]:
    with deployment.client() as plain:
        found: dict[str, Any] = plain.get("/openapi.json").json()
    return found


def test_fields_and_words_of_a_newer_server_are_no_error() -> None:
    key = resources.PublicKey.model_validate({"algorithm": "ml-dsa", "public_key": "AA==", "rotated_at": "tomorrow"})
    assert not hasattr(key, "rotated_at")
    made = {"id": "mod-1", "name": "", "task": "ranking", "input_shape": [1], "classes": None, "sha256": "", "bytes": 1}
    assert resources.Model.model_validate({**made, "manifest": {}, "created_at": ""}).task == "ranking"
    assert resources.Model.model_json_schema()["properties"]["task"]["enum"] == ["classification", "regression"]


def test_a_set_of_a_kind_that_is_not_installed() -> None:
    found = PredictionSet.model_validate({"kind": "ellipsoid", "size": 1.5, "axes": [1.0, 2.0]})
    assert found.axes == (1.0, 2.0)
    with pytest.raises(ClientError, match="'ellipsoid' are unknown here: install the package that brings them"):
        found.contains([0.0, 0.0])


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


def test_a_calibration_from_start_to_certificate(client: Client, inputs: tuple[Dataset, Model]) -> None:
    dataset, model = inputs
    asked: dict[str, Any] = {**QUICK, "alpha": 0.1, "name": "by client", "idempotency_key": "client-1"}
    started = client.calibrations.start(dataset.id, model.id, **asked)
    assert client.calibrations.start(dataset.id, model.id, **asked).id == started.id
    seen: list[Progress] = []
    ended = client.calibrations.wait(started.id, seen.append)
    assert (ended.status, ended.name, ended.finished) == ("succeeded", "by client", True)
    assert seen
    assert [report.fraction for report in seen] == sorted(report.fraction for report in seen)
    assert client.calibrations.get(started.id) == ended
    assert ended in list(client.calibrations.list())
    assert ended in list(client.calibrations.list(status="succeeded"))
    assert ended not in list(client.calibrations.list(status="failed"))
    all_of_them = list(client.calibrations.events(started.id))
    assert [event.progress for event in all_of_them[:-1]] == seen
    assert all_of_them[-1].calibration == ended
    rest = list(client.calibrations.events(started.id, after=all_of_them[-2].number))
    assert rest == all_of_them[-1:]

    assert ended.certificate_id is not None
    certificate = client.certificates.get(ended.certificate_id)
    assert certificate.coverage.alpha == 0.1
    assert certificate.statement.startswith("With probability at least 95 %")
    assert certificate in list(client.certificates.list(predictor=ended.predictor_id))
    assert client.certificates.verify(certificate.id).valid
    kept = Certificate.from_json(client.certificates.download(certificate.id).decode())
    assert kept.verify(client.certificates.key().public_key).valid
    assert kept.to_json() == certificate.document


def test_cancelling(client: Client, inputs: tuple[Dataset, Model]) -> None:
    started = client.calibrations.start(inputs[0].id, inputs[1].id, **ENDLESS)
    client.calibrations.cancel(started.id)
    assert client.calibrations.wait(started.id).status == "cancelled"


def test_one_input_is_asked_for_and_replayed(client: Client, deployment: Server) -> None:
    id = deployment.id("classification")
    one = client.predict_set(id, [0.1, 0.2])
    assert (one.predictor, one.set.kind, one.certificate.coverage) == (id, "labels", 0.9)
    again = client.predict_set(id, np.array([0.1, 0.2]), member=one.member)
    assert again.set == one.set
    with deployment.client() as plain:
        answer = plain.get("/predict_set", params={"predictor": id, "x": "0.1,0.2", "member": one.member}).json()
    answer["prediction_id"] = again.prediction_id
    assert again.to_json() == answer
    interval = client.predict_set(deployment.id("regression"), 0.3).set
    assert interval.kind == "interval"
    assert isinstance(interval.lower, float)
    assert interval.contains((interval.lower + interval.upper) / 2)
    assert interval.text == f"[{interval.lower:.6g}, {interval.upper:.6g}]"
    assert not interval.contains(100)


@pytest.mark.parametrize("task", ["classification", "regression", "pool"])
def test_many_rows_have_the_same_sets_as_json_and_as_npz(
    client: Client, deployment: Server, task: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, y = {"classification": class_data, "regression": toy_data, "pool": shifted_logits}[task](1500, 5)
    predictor = deployment.predictors[task]
    member = predictor.members - 1
    sets = predictor.predict_set(x, member=member)
    as_npz = client.predict_set(deployment.id(task), x, member=member)
    monkeypatch.setattr("certiset.service.client.predict._FEW_NUMBERS", 10**9)
    as_json = client.predict_set(deployment.id(task), x, member=member)
    assert [row.set for row in as_npz] == [row.set for row in as_json]
    assert (as_npz.contains(y) == sets.contains(y)).all()
    assert as_npz.size == pytest.approx(sets.size)
    assert (as_json.contains(y) == as_npz.contains(y)).all()
    assert {row.member for row in as_npz} == {member}
    assert as_npz.certificate == as_json.certificate
    assert len(client.predict_set(deployment.id(task), x.tolist()[:3])) == 3


def test_sets_know_what_they_contain() -> None:
    def make(**content: Any) -> PredictionSet:
        return PredictionSet.model_validate(content)

    assert make(kind="labels", labels=(1, 4), size=2).contains(4)
    assert not make(kind="labels", labels=(), size=0).contains(0)
    assert make(kind="interval", lower=0.0, upper=None, size=None, unbounded=True).contains(10.0**9)
    assert not make(kind="interval", lower=None, upper=None, size=0.0, empty=True).contains(0.0)
    assert make(kind="ball", center=(0.0, 0.0), radius=5.0, size=78.5).contains([3.0, 4.0])
    assert not make(kind="ball", center=(0.0, 0.0), radius=5.0, size=78.5).contains([3.1, 4.0])
    assert make(kind="box", lower=(0.0, None), upper=(1.0, 1.0), size=None, unbounded=True).contains([1.0, -7.0])
    assert not make(kind="box", lower=(0.0, 0.0), upper=(1.0, 1.0), size=1.0).contains([1.0, 1.1])


def test_predictors_and_outcomes(client: Client, deployment: Server) -> None:
    id = deployment.id("classification")
    assert id in {found.id for found in client.predictors.list()}
    pool, rows = deployment.id("pool"), np.zeros((40, 6))
    assert client.predictors.serve(pool, "best").serve == "best"
    assert len({row.member for row in client.predict_set(pool, rows)}) == 1
    assert client.predictors.serve(pool, "random").serve == "random"
    assert client.predictors.get(pool).serve == "random"
    assert len({row.member for row in client.predict_set(pool, rows)}) > 1
    x, y = class_data(60, 9)
    served = client.predict_set(id, x)
    before = client.predictors.monitor(id).outcomes
    pairs = [(row.prediction_id, truth) for row, truth in zip(served, y, strict=True)]
    counted = client.outcomes.report(pairs)
    assert (counted.counted, counted.repeated) == (60, 0)
    assert list(counted.covered) == served.contains(y).tolist()
    assert client.outcomes.report(pairs[:7]).repeated == 7
    assert client.predictors.monitor(id).outcomes == before + 60


def test_many_outcomes_are_sent_as_many_at_a_time_as_the_server_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    client, sent = Client("http://127.0.0.1:1", "key"), []

    def ask(kind: Any, method: str, path: str, *, json: dict[str, Any]) -> Any:
        sent.append(len(json["outcomes"]))
        assert len(dumps(json)) <= outcomes_body(Settings())
        if len(sent) == 3:
            where = FieldProblem(where="outcomes.7.y", message="")
            raise ApiError(resources.Problem(type="", title="", status=422, detail="", code="", errors=(where,)))
        return kind(counted=len(json["outcomes"]), repeated=0, replayed=0, covered=())

    monkeypatch.setattr(client._connection, "ask", ask)
    assert client.outcomes.report([]).counted == 0
    with pytest.raises(ApiError) as refused:
        client.outcomes.report((k * 50 * "A", 0.123456789) for k in (1, 2, 3, 400) for _ in range(10_000))
    assert refused.value.errors[0].where == f"outcomes.{sum(sent[:2]) + 7}.y"
    sent.clear()
    assert client.outcomes.report(("A" * 20, 1) for _ in range(15_000)).counted == 15_000
    assert sent == [10_000, 5_000]


def test_health(client: Client) -> None:
    assert client.health() == resources.Ready(ready=True, database="ok", broker="ok", artifacts="ok", disk="ok")


def test_cases_are_named_and_truths_corrected(client: Client, deployment: Server) -> None:
    id, x = deployment.id("classification"), class_data(3, 33)[0]
    served = client.predict_set(id, x, cases=["one", "two", "two"])
    inside = [one.set.labels[0] if one.set.labels else 0 for one in served]
    counted = client.outcomes.report((one.prediction_id, y) for one, y in zip(served, inside, strict=True))
    assert (counted.counted, counted.repeated) == (2, 1)
    again = client.predict_set(id, x[0], cases="one")
    assert client.outcomes.report([(again.prediction_id, 0)]).repeated == 1
    before = client.predictors.monitor(id)
    outside = next(label for label in range(3) if label not in served[0].set.labels)
    state = client.outcomes.correct(served[0].prediction_id, outside)
    assert (state.predictor_id, state.covered, state.state) == (id, False, "counted")
    client.outcomes.annul(served[1].prediction_id)
    after = client.predictors.monitor(id)
    was_missed = not counted.covered[0]
    assert (after.outcomes, after.misses) == (
        before.outcomes - 1,
        before.misses + 1 - was_missed - (not counted.covered[1]),
    )
    with pytest.raises(ValueError, match="2 cases were given for one input"):
        client.predict_set(id, x[0], cases=["a", "b"])
    many = client.predict_set(id, np.zeros((1500, 2)), cases="one")
    assert len({row.member for row in many}) == 1
    # Many rows go as .npz, and their cases with them.
    numbers = np.arange(1500) % 3
    by_number = client.predict_set(id, np.zeros((1500, 2)), cases=numbers)
    by_text = client.predict_set(id, np.zeros((3, 2)), cases=["0", "1", "2"])
    assert [row.member for row in by_number] == [by_text[number].member for number in numbers]
    with pytest.raises(ApiError, match="case has 1 entries, and x has 1,500 rows"):
        client.predict_set(id, np.zeros((1500, 2)), cases=["one"])
    with pytest.raises(ApiError, match="1 to 200 characters"):
        client.predict_set(id, np.zeros((1500, 2)), cases=["x" * 201] * 1500)
