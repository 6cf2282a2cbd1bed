"""A saved predictor as a function of batches: the sets are those of the predictor, in whatever form rows come."""

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from certiset.batch import SetPredictor
from certiset.core.data.frame import Frame, TextColumn
from certiset.core.errors import CertisetError, DataError
from certiset.core.fit import Predictor, fit, load
from certiset.core.models import Model

_NAMES = ["height", "weight", "age"]


def _fitted(folder: Path, *, names: bool) -> Predictor:
    random = np.random.default_rng(0)
    y = random.integers(3, size=200)
    x = random.normal(size=(200, 3)) + 2 * np.eye(3)[y]
    model = Model.from_manifest({"name": "m", "task": "classification", "classes": 3, "input_shape": [3]})
    predictor = fit(model, Frame(x, _NAMES) if names else x, y, method="standard")
    predictor.save(folder)
    return predictor


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved") / "table"
    _fitted(folder, names=True)
    return folder


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved") / "plain"
    _fitted(folder, names=False)
    return folder


@pytest.fixture(scope="module")
def x() -> Any:
    return np.random.default_rng(1).normal(size=(50, 3)) * 2


def _labels(folder: Path, x: Any) -> list[list[int]]:
    return [one["labels"] for one in load(folder).predict_set(x, 0).to_json()]


def _columns(x: Any) -> dict[str, Any]:
    """In another order than the predictor's, with one column that is none of its inputs."""
    return {"age": x[:, 2], "id": np.arange(len(x)), "height": x[:, 0], "weight": x[:, 1]}


def test_a_mapping_of_arrays_as_ray_passes_it(table: Path, x: Any) -> None:
    answer = SetPredictor(table)(_columns(x))
    assert [row.tolist() for row in answer["labels"]] == _labels(table, x)
    assert answer["size"].tolist() == [len(row) for row in answer["labels"]]
    assert answer["id"].tolist() == list(range(50))
    assert list(answer) == ["age", "id", "height", "weight", "labels", "size", "member"]


def test_only_what_is_to_be_kept_stays(table: Path, x: Any) -> None:
    assert list(SetPredictor(table, keep=["id"])(_columns(x))) == ["id", "labels", "size", "member"]
    assert list(SetPredictor(table, keep=[])(_columns(x))) == ["labels", "size", "member"]


@pytest.mark.parametrize("kind", [pa.table, pa.RecordBatch.from_pydict])
def test_arrow_tables_and_record_batches(table: Path, x: Any, kind: Any) -> None:
    batch = kind(_columns(x))
    answer = SetPredictor(table)(batch)
    assert type(answer) is type(batch)
    assert answer.column("labels").to_pylist() == _labels(table, x)
    assert answer.column("id").to_pylist() == list(range(50))


def test_an_iterator_of_record_batches_as_spark_passes_it(table: Path, x: Any) -> None:
    whole = pa.RecordBatch.from_pydict(_columns(x))

    def batches() -> Iterator[Any]:
        yield whole.slice(0, 20)
        yield whole.slice(20)

    found = list(SetPredictor(table)(batches()))
    assert [batch.num_rows for batch in found] == [20, 30]
    assert pa.Table.from_batches(found).column("labels").to_pylist() == _labels(table, x)


@pytest.mark.parametrize(
    "column",
    [
        lambda x: pa.array(x.tolist()),
        lambda x: pa.FixedSizeListArray.from_arrays(pa.array(x.reshape(-1)), 3),
        lambda x: pa.chunked_array([x[:20].tolist(), x[20:].tolist()]),
    ],
)
def test_lists_of_numbers_where_the_predictor_knows_no_names(plain: Path, x: Any, column: Any) -> None:
    batch = pa.table({"features": column(x), "id": np.arange(50)})
    answer = SetPredictor(plain, x="features")(batch)
    assert answer.column("labels").to_pylist() == _labels(plain, x)


def test_arrays_of_arrays(plain: Path, x: Any) -> None:
    rows = np.empty(50, dtype=object)
    rows[:] = list(x)
    assert [row.tolist() for row in SetPredictor(plain)({"x": rows})["labels"]] == _labels(plain, x)
    assert [row.tolist() for row in SetPredictor(plain)({"x": x})["labels"]] == _labels(plain, x)


def test_intervals_have_their_ends(tmp_path: Path, x: Any) -> None:
    y = x[:, 0] + np.random.default_rng(2).normal(size=50)
    model = Model.from_manifest({"name": "m", "task": "regression", "input_shape": [1]})
    fit(model, x[:, :1], y, method="standard", alpha=0.2, score={"kind": "residual"}).save(tmp_path / "saved")
    answer = SetPredictor(tmp_path / "saved")({"x": x[:, :1]})
    expected = load(tmp_path / "saved").predict_set(x[:, :1], 0)
    np.testing.assert_array_equal(answer["lower"], expected.columns()["lower"])
    np.testing.assert_array_equal(answer["upper"], expected.columns()["upper"])


def test_only_the_name_of_the_folder_travels(table: Path, x: Any) -> None:
    used = SetPredictor(table, member=0)
    used(_columns(x))
    sent = pickle.dumps(used)
    assert len(sent) < 1000
    assert [row.tolist() for row in pickle.loads(sent)(_columns(x))["labels"]] == _labels(table, x)


def test_what_is_missing_or_in_the_way_is_named(table: Path, plain: Path, x: Any) -> None:
    columns = _columns(x)
    with pytest.raises(DataError, match="no column 'weight'; the nearest is 'wieght'"):
        SetPredictor(table)({**{name: columns[name] for name in ("age", "height")}, "wieght": x[:, 1]})
    with pytest.raises(DataError, match="name the column that holds a list of numbers"):
        SetPredictor(plain)({"features": x})
    with pytest.raises(DataError, match="a column 'size' of its own"):
        SetPredictor(table)({**columns, "size": x[:, 0]})
    with pytest.raises(DataError, match="keep: there is no column 'name'"):
        SetPredictor(table, keep=["name"])(columns)
    with pytest.raises(DataError, match="different lengths"):
        SetPredictor(plain)(pa.table({"x": [[1.0, 2.0, 3.0], [1.0]]}))
    with pytest.raises(DataError, match="no list in row 2"):
        SetPredictor(plain)(pa.table({"x": [[1.0, 2.0, 3.0], None]}))
    with pytest.raises(DataError, match="not list"):
        SetPredictor(plain)([[1.0]])


def _by_group(folder: Path, **options: Any) -> Predictor:
    random = np.random.default_rng(3)
    y, place = random.integers(3, size=900), random.integers(2, size=900)
    x = random.normal(size=(900, 3)) + np.array([4.0, 1.0])[place][:, None] * np.eye(3)[y]
    manifest = {"task": "classification", "classes": 3, "input_shape": [3], "labels": ["ash", "oak", "yew"]}
    site = np.array(["north", "south"])[place]
    rows: Any = Frame(x, _NAMES, {"site": TextColumn.of(site.tolist())})
    given = site if options.pop("as_array", False) else "site"
    model = Model.from_manifest({"name": "m", **manifest})
    predictor = fit(model, rows, y, method="standard", groups=given, **options)
    predictor.save(folder)
    return predictor


@pytest.mark.parametrize("form", [dict, pa.table, pa.RecordBatch.from_pydict, pd.DataFrame])
def test_groups_are_read_from_their_column_and_classes_have_their_names(tmp_path: Path, x: Any, form: Any) -> None:
    predictor = _by_group(tmp_path / "saved")
    site = np.array(["north", "south", "nowhere"], dtype=object)[np.arange(50) % 3]
    answer = SetPredictor(tmp_path / "saved", member=0)(form({**_columns(x), "site": site}))
    columns = answer if isinstance(answer, dict | pd.DataFrame) else answer.to_pydict()
    expected = predictor.predict_set(x, 0, groups=site.tolist()).to_json()
    assert [list(row) for row in columns["labels"]] == [one["labels"] for one in expected]
    assert [list(row) for row in columns["names"]] == [one["names"] for one in expected]
    assert list(columns["whole_space"]) == ["unknown_group" if one == "nowhere" else "" for one in site]


def test_groups_that_were_an_array_need_a_column(tmp_path: Path, table: Path, x: Any) -> None:
    predictor = _by_group(tmp_path / "saved", as_array=True)
    batch = {**_columns(x), "where": np.array(["north", "south"])[np.arange(50) % 2]}
    with pytest.raises(DataError, match="say by groups which column of the batch has them"):
        SetPredictor(tmp_path / "saved")(batch)
    answer = SetPredictor(tmp_path / "saved", groups="where", member=0)(batch)
    expected = predictor.predict_set(x, 0, groups=batch["where"]).to_json()
    assert [row.tolist() for row in answer["labels"]] == [one["labels"] for one in expected]
    with pytest.raises(DataError, match="groups: the batch has no column 'were'; the nearest is 'where'"):
        SetPredictor(tmp_path / "saved", groups="were")(batch)
    with pytest.raises(DataError, match="have 1 columns, not 2"):
        SetPredictor(tmp_path / "saved", groups=["where", "age"])(batch)
    with pytest.raises(DataError, match="leave groups out"):
        SetPredictor(table, groups="where")(batch)


def test_alpha_where_the_promise_is_for_all_of_them(tmp_path: Path, x: Any) -> None:
    random = np.random.default_rng(0)
    y = random.integers(3, size=400)
    model = Model.from_manifest({"name": "m", "task": "classification", "classes": 3, "input_shape": [3]})
    rows = random.normal(size=(400, 3)) + 2 * np.eye(3)[y]
    predictor = fit(model, rows, y, method="standard", alpha="all")
    predictor.save(tmp_path / "saved")
    batch = {"x": x}
    with pytest.raises(CertisetError, match="alpha"):
        SetPredictor(tmp_path / "saved")(batch)
    answer = SetPredictor(tmp_path / "saved", alpha=0.2, member=0)(batch)
    expected = predictor.predict_set(x, 0, alpha=0.2).to_json()
    assert [row.tolist() for row in answer["labels"]] == [one["labels"] for one in expected]
