"""Data frames: columns are inputs by name, in the model's order, in the fit and afterwards."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from certiset.core.errors import DataError, ModelError
from certiset.core.fit import Predictor, fit, load
from certiset.core.fit.options import FitOptions
from certiset.core.fit.roles import Given, read_rows
from certiset.core.models import Manifest, Model
from tests.core.fit.problems import class_data, class_model

PLAIN: dict[str, Any] = {"method": "standard"}
X, Y = class_data(200, 0)


def table(**columns: Any) -> pa.Table:
    return pa.table({"first": X[:, 0], "second": X[:, 1], **columns})


def named_model(*columns: str) -> Model:
    given = class_model()
    manifest = {**given.manifest.to_json(), "columns": list(columns)}
    return Model.from_manifest(manifest, given.tensors())


@pytest.fixture(scope="module")
def predictor() -> Predictor:
    return fit(class_model(), table(), Y, **PLAIN)


def test_the_names_are_on_the_certificate_and_columns_are_put_in_order_by_them(
    predictor: Predictor, tmp_path: Path
) -> None:
    assert predictor.certificate.data is not None
    assert predictor.certificate.data.columns == ["first", "second"]
    expected = predictor.predict_set(X, member=0).to_json()
    swapped = table().select(["second", "first"])
    assert predictor.predict_set(swapped, member=0).to_json() == expected
    predictor.save(tmp_path)
    assert load(tmp_path).predict_set(swapped, member=0).to_json() == expected
    assert predictor.predict_set(X[:, ::-1], member=0).to_json() != expected


def test_missing_unknown_and_empty_columns_are_refused(predictor: Predictor) -> None:
    with pytest.raises(DataError, match="takes a column 'second', and the data have none"):
        predictor.predict_set(table().select(["first"]))
    with pytest.raises(DataError, match="columns that the predictor does not know: 'third'"):
        predictor.predict_set(table(third=X[:, 0]))
    with pytest.raises(DataError, match="Column 'second' is an input, and has no number in row 1"):
        predictor.predict_set(pa.table({"first": [1.0], "second": pa.array([None], pa.float64())}))


def test_a_fit_on_arrays_takes_data_frames_as_arrays() -> None:
    predictor = fit(class_model(), X, Y, **PLAIN)
    assert predictor.certificate.data is not None
    assert predictor.certificate.data.columns is None
    assert predictor.predict_set(np.asarray(X)[:3]).size.shape == (3,)


def test_columns_of_clusters_and_times_are_no_inputs() -> None:
    patient = [f"p{row // 2}" for row in range(200)]
    number = np.arange(200) // 2
    days = np.datetime64("2024-01-01") + np.arange(200)
    data = table(patient=patient, number=number, day=days, note=["text"] * 200)
    model = class_model()
    by_text = fit(model, data.drop_columns(["number", "day"]), Y, clusters="patient", **PLAIN)
    by_number = fit(model, data.drop_columns(["patient", "day"]), Y, clusters="number", **PLAIN)
    for predictor, name in ((by_text, "patient"), (by_number, "number")):
        certificate = predictor.certificate
        assert certificate.data is not None
        assert certificate.data.columns == ["first", "second"]
        assert (certificate.data.clusters, certificate.data.cluster_column) == (100, name)
        assert f"one randomly chosen input of a new {name} with probability" in certificate.statement
        assert certificate.verify()
    assert by_number.predict_set(data.select(["number", "second", "first"])).size.shape == (200,)
    both = fit(model, data.drop_columns(["number"]), Y, clusters="patient", order="day", **PLAIN)
    assert "order_of_time" in [caveat.code for caveat in both.certificate.caveats]


def test_a_model_that_names_its_columns_gets_them_in_its_order() -> None:
    data = table(other=np.arange(200.0), note=["text"] * 200).select(["other", "second", "note", "first"])
    predictor = fit(named_model("first", "second"), data, Y, **PLAIN)
    assert predictor.certificate.data is not None
    assert predictor.certificate.data.columns == ["first", "second"]
    plain = fit(class_model(), X, Y, **PLAIN)
    assert [member.tau for member in predictor.certificate.members] == [m.tau for m in plain.certificate.members]
    with pytest.raises(DataError, match="takes a column 'frist', and the data have none; the nearest is 'first'"):
        fit(named_model("frist", "second"), data, Y, **PLAIN)
    with pytest.raises(DataError, match=r"takes the column 'note', but it holds text \('text' in row 1\)"):
        fit(named_model("note", "second"), data, Y, **PLAIN)


def test_too_many_columns_of_numbers_are_named_with_those_of_text() -> None:
    words = r"the table has 3 columns of numbers for them: .*'third'; columns of text are no inputs: 'note'"
    with pytest.raises(DataError, match=words):
        fit(class_model(), table(third=X[:, 0], note=["text"] * 200), Y, **PLAIN)


def test_an_unknown_column_of_clusters_or_times_is_refused_with_the_nearest() -> None:
    with pytest.raises(DataError, match="clusters: there is no column 'secnd'; the nearest is 'second'"):
        fit(class_model(), table(), Y, clusters="secnd", **PLAIN)
    with pytest.raises(DataError, match="order must be a column of numbers or of times") as caught:
        fit(class_model(), table(when=["31.1.2024"] * 200), Y, order="when", **PLAIN)
    assert caught.value.field == "order"


def test_times_are_in_the_order_of_time_whatever_zone_each_is_told_in() -> None:
    """By their text, the first of these would be the latest."""
    told = [
        "2024-01-02T00:30:00+09:00",
        "2024-01-01T16:00:00Z",
        "2024-01-01T12:00:00-05:00",
        "2024-01-01T19:00:00+01:00",
    ]
    data = table(when=[told[row // 50] for row in range(200)])
    options = FitOptions.read({"order": "when", **PLAIN}).resolved("classification")
    times = read_rows(class_model(), data, Y, options, Given.of({})).times
    assert times is not None
    assert times.tolist() == [row // 50 for row in range(200)]


@pytest.mark.parametrize(
    ("told", "message"),
    [(["2024-01-01T00:00:00Z", "2024-01-01"], "with a zone and times without"), (["2024-02-30"], "no calendar has")],
)
def test_times_that_cannot_be_compared_are_refused(told: list[str], message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        fit(class_model(), table(when=[told[row % len(told)] for row in range(200)]), Y, order="when", **PLAIN)
    assert caught.value.field == "order"


@pytest.mark.parametrize(
    ("columns", "message"),
    [("first", "must be a list"), (["a", 1], "must be a list"), (["a", "a"], "twice"), (["a"], "input_shape is")],
)
def test_columns_of_a_manifest_are_checked(columns: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message) as caught:
        Manifest.parse({**class_model().manifest.to_json(), "columns": columns})
    assert caught.value.field == "columns"


def test_a_manifest_without_columns_is_written_as_before() -> None:
    assert "columns" not in class_model().manifest.to_json()
    written = named_model("a", "b").manifest.to_json()
    assert written["columns"] == ["a", "b"]
    assert Manifest.parse(written).to_json() == written


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ("patient", "a new patient with probability"),
        ("patient_id", "a new cluster, by the column 'patient_id', with probability"),
        ("x" * 100, "a new cluster, by the column 'xxx"),
    ],
)
def test_the_sentence_names_the_column(column: str, words: str) -> None:
    data = pa.table({"first": X[:, 0], "second": X[:, 1], column: [f"p{row // 2}" for row in range(200)]})
    certificate = fit(class_model(), data, Y, clusters=column, **PLAIN).certificate
    assert words in certificate.statement
    assert certificate.verify()
