"""Batches over HTTP, with a real worker: the sets of all rows of a data set, in one file."""

import hashlib
import io
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from certiset.core.data.frame import Frame, TextColumn
from certiset.core.fit import Predictor, fit
from certiset.core.models import Model
from certiset.core.sets.intervals import Intervals
from certiset.core.sets.labels import LabelSets
from certiset.core.store import Store
from certiset.service.cli.main import main
from certiset.service.client import ApiError, Batch, Client
from tests.core.fit.problems import class_data, class_model, toy_data
from tests.service.server import Server, enter_predictor

CLASSES = 3
COLUMNS = ["a", "b", "c"]


def table(rows: int, seed: int) -> tuple[Frame, np.ndarray[Any, Any]]:
    rng = np.random.default_rng(seed)
    y = rng.integers(CLASSES, size=rows)
    x = 3 * np.eye(CLASSES)[y] + rng.normal(size=(rows, CLASSES))
    region = np.array(["north", "south"])[rng.integers(2, size=rows)]
    return Frame(x, COLUMNS, {"region": TextColumn.of(region.tolist())}), y


def logits_model() -> Model:
    manifest = {"task": "classification", "classes": CLASSES, "input_shape": [CLASSES], "labels": ["ash", "oak", "yew"]}
    return Model.from_manifest({"name": "logits", **manifest})


@pytest.fixture(scope="module", name="made")
def made_(deployment: Server) -> dict[str, Predictor]:
    """By groups, and for all alpha, beside those that the server has."""
    frame, y = table(1500, 0)
    made = {
        "groups": fit(logits_model(), frame, y, method="standard", groups="region"),
        "levels": fit(class_model(), *class_data(600, 4), method="standard", alpha="all"),
    }
    store = Store(deployment.settings)
    for predictor in made.values():
        enter_predictor(store, predictor)
    store.close()
    return made


@pytest.fixture(name="rows")
def rows_(client: Client, tmp_path: Path) -> str:
    file = tmp_path / "rows.npz"
    np.savez(file, x=class_data(400, 9)[0])
    return client.datasets.upload(file, target="").id


def upload_table(client: Client, frame: Frame, folder: Path, **further: Any) -> str:
    region = frame.further["region"]
    assert isinstance(region, TextColumn)
    columns = {name: np.asarray(frame.x)[:, place] for place, name in enumerate(COLUMNS)}
    texts = [region.values[code] for code in region.codes]
    pq.write_table(pa.table({**columns, "region": texts, **further}), folder / "rows.parquet")
    return client.datasets.upload(folder / "rows.parquet", target="").id


def fetched(client: Client, batch: Batch, folder: Path) -> pa.Table:
    ended = client.batches.wait(batch.id)
    assert (ended.status, ended.error) == ("succeeded", None)
    client.batches.download(batch.id, folder / "sets.parquet")
    content = (folder / "sets.parquet").read_bytes()
    assert (ended.bytes, ended.sha256) == (len(content), hashlib.sha256(content).hexdigest())
    return pq.read_table(folder / "sets.parquet")


def replayed(predictor: Predictor, x: Any, answer: pa.Table, **how: Any) -> list[list[int]]:
    sets = predictor.predict_set(x, answer["member"].to_numpy(), **how)
    assert isinstance(sets, LabelSets)
    return [np.flatnonzero(row).tolist() for row in sets.mask]


def test_a_batch_has_the_set_of_every_row_in_the_order_of_the_data_set(
    deployment: Server, client: Client, rows: str, tmp_path: Path
) -> None:
    batch = client.batches.start(deployment.id("classification"), rows, name="tonight")
    assert (batch.status, batch.rows, batch.name, batch.bytes) == ("queued", 400, "tonight", None)
    answer = fetched(client, batch, tmp_path)
    assert answer.column_names == ["row", "labels", "size", "member"]
    assert answer["row"].to_pylist() == list(range(1, 401))
    predictor = deployment.predictors["classification"]
    assert answer["labels"].to_pylist() == replayed(predictor, class_data(400, 9)[0], answer)
    assert answer["size"].to_pylist() == [len(labels) for labels in answer["labels"].to_pylist()]
    assert len(set(answer["member"].to_pylist())) > 1
    assert batch.id in [one.id for one in client.batches.list(status="succeeded")]


def test_regression_and_the_best_member_alone(deployment: Server, client: Client, tmp_path: Path) -> None:
    x = toy_data(50, 8)[0]
    np.savez(tmp_path / "x.npz", x=x)
    dataset, id = client.datasets.upload(tmp_path / "x.npz", target="").id, deployment.id("regression")
    client.predictors.serve(id, "best")
    answer = fetched(client, client.batches.start(id, dataset), tmp_path)
    client.predictors.serve(id, "random")
    (member,) = set(answer["member"].to_pylist())
    expected = deployment.predictors["regression"].predict_set(x, member)
    assert isinstance(expected, Intervals)
    np.testing.assert_allclose(answer["lower"].to_numpy(), expected.lower.reshape(-1))
    np.testing.assert_allclose(answer["upper"].to_numpy(), expected.upper.reshape(-1))


def test_groups_and_names_come_from_the_columns_and_the_model(
    made: dict[str, Predictor], client: Client, tmp_path: Path
) -> None:
    predictor, (frame, _) = made["groups"], table(120, 5)
    dataset = upload_table(client, frame, tmp_path)
    answer = fetched(client, client.batches.start(predictor.certificate.predictor_id, dataset), tmp_path)
    region = frame.further["region"]
    assert isinstance(region, TextColumn)
    groups = [region.values[code] for code in region.codes]
    assert answer["group"].to_pylist() == groups
    assert set(answer["whole_space"].to_pylist()) == {""}
    labels = replayed(predictor, np.asarray(frame.x), answer, groups=groups)
    assert answer["labels"].to_pylist() == labels
    assert answer["names"].to_pylist() == [[["ash", "oak", "yew"][label] for label in row] for row in labels]


def test_a_named_case_has_the_member_that_it_has_by_itself(deployment: Server, client: Client, tmp_path: Path) -> None:
    x, id = class_data(60, 6)[0], deployment.id("classification")
    columns = {"a": x[:, 0], "b": x[:, 1], "patient": [f"p{row % 7}" for row in range(60)]}
    pq.write_table(pa.table(columns), tmp_path / "rows.parquet")
    dataset = client.datasets.upload(tmp_path / "rows.parquet", target="").id
    answer = fetched(client, client.batches.start(id, dataset, cases="patient"), tmp_path)
    cases, members = answer["case"].to_pylist(), answer["member"].to_pylist()
    assert cases == columns["patient"]
    alone = client.predict_set(id, x[:7], cases=cases[:7])
    assert members[:7] == [one.member for one in alone]
    assert len({*zip(cases, members, strict=True)}) == 7


def test_alpha_is_asked_for_where_the_promise_is_for_all_of_them(
    made: dict[str, Predictor], client: Client, rows: str, tmp_path: Path
) -> None:
    id = made["levels"].certificate.predictor_id
    with pytest.raises(ApiError, match="alpha") as refused:
        client.batches.start(id, rows)
    assert refused.value.status == 422
    answer = fetched(client, client.batches.start(id, rows, alpha=0.2), tmp_path)
    assert answer["labels"].to_pylist() == replayed(made["levels"], class_data(400, 9)[0], answer, alpha=0.2)


def test_a_deployment_s_name_stands_for_its_predictor(deployment: Server, client: Client, rows: str) -> None:
    client.deployments.set("nightly", deployment.id("classification"))
    batch = client.batches.start("nightly", rows)
    assert batch.predictor_id == deployment.id("classification")
    assert client.batches.wait(batch.id).status == "succeeded"
    client.deployments.delete("nightly")


@pytest.mark.parametrize(
    ("body", "status", "where", "words"),
    [
        ({"dataset_id": "ds-none"}, 404, None, "There is no dataset ds-none"),
        ({"predictor": "pred-none"}, 404, None, "There is no predictor pred-none"),
        ({"predictor": "nobody"}, 404, None, "There is no deployment nobody"),
        ({"predictor": "pool"}, 422, "dataset_id", "The model takes inputs of shape"),
        ({"cases": "patient"}, 422, "cases", "the columns of the data have no names"),
        ({"alpha": 0.2}, 422, "alpha", "alpha"),
        ({"alpha": 2}, 422, "alpha", "less than 1"),
        ({"alhpa": 0.1}, 422, "alhpa", "alhpa"),
    ],
)
def test_what_cannot_be_answered_is_refused_before_it_waits(
    deployment: Server, rows: str, body: dict[str, Any], status: int, where: str | None, words: str
) -> None:
    named = {"predictor": deployment.id("classification"), "dataset_id": rows, **body}
    if body.get("predictor") == "pool":
        named["predictor"] = deployment.id("pool")
    with deployment.client() as ada:
        answer = ada.post("/batches", json=named)
    assert answer.status_code == status, answer.text
    problem = answer.json()
    assert words in problem["detail"] or words in str(problem.get("errors"))
    if where is not None:
        assert where in problem["errors"][0]["where"]


def test_nobody_else_s_data_are_found_and_nobody_else_finds_the_batch(
    deployment: Server, client: Client, rows: str
) -> None:
    batch = client.batches.start(deployment.id("classification"), rows)
    client.batches.wait(batch.id)
    with deployment.client("eve") as eve, deployment.client("reader") as reader:
        for path in (f"/batches/{batch.id}", f"/batches/{batch.id}/file"):
            assert eve.get(path).status_code == 404
            assert reader.get(path).status_code == 200
        assert eve.delete(f"/batches/{batch.id}").status_code == 404
        assert eve.get("/batches").json()["items"] == []
        body = {"predictor": deployment.id("classification"), "dataset_id": rows}
        assert eve.post("/batches", json=body).status_code == 404
        assert reader.post("/batches", json=body).status_code == 403
        assert reader.delete(f"/batches/{batch.id}").status_code == 403
    store = Store(deployment.settings)
    enter_predictor(store, deployment.predictors["classification"], "eve")
    store.close()
    with deployment.client("eve") as eve:
        # Her own predictor, and somebody else's rows.
        assert "There is no dataset" in eve.post("/batches", json=body).json()["detail"]


def test_the_same_key_is_the_same_batch(deployment: Server, client: Client, rows: str) -> None:
    body = {"predictor": deployment.id("classification"), "dataset_id": rows}
    headers = {"Idempotency-Key": "night-1"}
    with deployment.client() as ada:
        first, second = (ada.post("/batches", json=body, headers=headers) for _ in range(2))
        assert first.headers["location"] == f"/batches/{first.json()['id']}"
        assert first.json()["id"] == second.json()["id"]
        other = ada.post("/batches", json={**body, "name": "another"}, headers=headers)
    assert (other.status_code, other.json()["code"]) == (409, "conflict")
    assert client.batches.wait(first.json()["id"]).status == "succeeded"


def test_a_file_that_is_not_there_yet_and_one_that_was_deleted(deployment: Server, client: Client, rows: str) -> None:
    usage = client.usage().bytes
    batch = client.batches.start(deployment.id("classification"), rows)
    ended = client.batches.wait(batch.id)
    assert ended.bytes is not None
    assert client.usage().bytes == usage + ended.bytes
    with deployment.client() as ada:
        answer = ada.get(f"/batches/{batch.id}/file")
        assert answer.headers["content-type"] == "application/vnd.apache.parquet"
        assert (
            ada.get(f"/batches/{batch.id}/file", headers={"If-None-Match": answer.headers["etag"]}).status_code == 304
        )
        assert pq.read_table(io.BytesIO(answer.content)).num_rows == 400
        client.batches.delete(batch.id)
        assert ada.get(f"/batches/{batch.id}/file").status_code == 404
        actions = [entry["action"] for entry in ada.get("/audit", params={"object": batch.id}).json()["items"]]
    assert {"batch.create", "batch.succeed", "batch.delete"} <= {*actions}
    assert client.usage().bytes == usage


def test_the_command_line_asks_waits_writes_and_deletes(
    deployment: Server, client: Client, rows: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    connection = ["--url", deployment.url, "--key", deployment.keys["ada"]]
    file, id = tmp_path / "sets.parquet", deployment.id("classification")
    assert main(["batches", "start", "--predictor", id, "--dataset", rows, "-o", str(file), *connection]) == 0
    assert pq.read_metadata(file).num_rows == 400
    words = capsys.readouterr().out
    batch = next(word for word in words.split() if word.startswith("batch-"))
    assert words == f"The sets of {batch} are in {file}.\n"
    assert main(["batches", "list", *connection]) == 0
    assert f"{batch}  succeeded  400 rows of {rows} by {id}" in capsys.readouterr().out
    assert main(["batches", "delete", batch, *connection]) == 0
    assert main(["batches", "show", batch, *connection]) == 2
    assert f"There is no batch {batch}" in capsys.readouterr().err
