"""Tables keep their columns: names, text, missing values, in every format and through the store."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from certiset.core.data import DatasetArrays, Limits, convert_dataset, read_inputs
from certiset.core.data.frame import Frame, TextColumn, as_frame
from certiset.core.data.stored_rows import map_dataset, read_columns
from certiset.core.errors import DataError
from tests.core.data.files import read

ROWS: list[dict[str, Any]] = [
    {"age": 30.5, "patient": "ann", "dose": 1, "y": 0},
    {"age": None, "patient": "bob", "dose": 2, "y": 1},
    {"age": 41.0, "patient": "ann", "dose": 3, "y": 0},
    {"age": 29.0, "patient": None, "dose": 4, "y": 1},
]


def as_csv() -> bytes:
    lines = [",".join("" if cell is None else str(cell) for cell in row.values()) for row in ROWS]
    return "\n".join([",".join(ROWS[0]), *lines]).encode()


def as_parquet() -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(ROWS), stream)
    return stream.getvalue()


def as_npz() -> bytes:
    stream = io.BytesIO()
    x = np.array([[row["age"], row["dose"]] for row in ROWS], dtype=np.float64)
    patients = np.array([row["patient"] or "" for row in ROWS])
    np.savez(stream, x=x, y=[row["y"] for row in ROWS], column_names=["age", "dose"], patient=patients)
    return stream.getvalue()


TABLES: dict[str, Callable[[], bytes]] = {
    ".csv": as_csv,
    ".json": lambda: json.dumps(ROWS).encode(),
    ".parquet": as_parquet,
    ".npz": as_npz,
}


def table(folder: Path, suffix: str) -> Path:
    file = folder / f"table{suffix}"
    file.write_bytes(TABLES[suffix]())
    return file


@pytest.mark.parametrize("suffix", TABLES)
def test_a_table_keeps_names_text_and_missing_values(tmp_path: Path, suffix: str) -> None:
    found = read(table(tmp_path, suffix))
    assert found.names == ["age", "dose"]
    np.testing.assert_array_equal(found.x, [[30.5, 1], [np.nan, 2], [41, 3], [29, 4]])
    patient = found.further["patient"]
    assert isinstance(patient, TextColumn)
    assert (patient.values, patient.codes.tolist()) == (["ann", "bob"], [0, 1, 0, -1])
    assert found.y.tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("suffix", TABLES)
def test_a_stored_table_is_read_as_it_was(tmp_path: Path, suffix: str) -> None:
    stored = tmp_path / "stored"
    stored.touch()
    convert_dataset(table(tmp_path, suffix), f"t{suffix}", "y", Limits(), stored)
    for found in (DatasetArrays.from_bytes(stored.read_bytes()), map_dataset(stored)):
        assert found.names == ["age", "dose"]
        assert isinstance(found.further["patient"], TextColumn)
        assert found.further["patient"].codes.tolist() == [0, 1, 0, -1]
        np.testing.assert_array_equal(found.x[:, 1], [1, 2, 3, 4])
    content = stored.read_bytes()
    described = read_columns(lambda first, last: content[first:last])
    assert described is not None
    assert described["columns"] == [
        {"name": "age", "kind": "number", "missing": 1, "distinct": 3},
        {"name": "dose", "kind": "number", "missing": 0, "distinct": 4},
        {"name": "patient", "kind": "text", "missing": 1, "distinct": 2},
    ]


def test_arrays_without_names_are_stored_as_before() -> None:
    from safetensors.numpy import load, save  # noqa: PLC0415

    x, y = np.zeros((3, 2, 2), dtype=np.float32), np.arange(3)
    assert set(load(DatasetArrays.checked(x, y).to_bytes())) == {"x", "y"}
    old = DatasetArrays.from_bytes(save({"x": x, "y": y}))
    assert (old.names, dict(old.further)) == (None, {})
    content = save({"x": x, "y": y})
    assert read_columns(lambda first, last: content[first:last]) is None


def test_npz_and_json_arrays_have_further_columns_of_one_entry_a_row(tmp_path: Path) -> None:
    x, y, patient = np.zeros((3, 4, 4)), np.arange(3), np.array(["ann", "bob", "ann"])
    file = tmp_path / "d.npz"
    np.savez(file, x=x, y=y, patient=patient, time=np.array([3.0, np.nan, 1.0]), other=np.zeros(7), z=np.zeros((3, 2)))
    found = read(file)
    assert found.names is None
    assert set(found.further) == {"patient", "time"}
    assert isinstance(found.further["patient"], TextColumn)
    file = tmp_path / "d.json"
    more = {"patient": ["ann", None, "bob"], "time": [1, 2, None], "note": "text", "short": [1]}
    file.write_text(json.dumps({"x": x.tolist(), "y": y.tolist(), **more}))
    assert set(read(file).further) == {"patient", "time"}
    assert set(DatasetArrays.from_bytes(read(file).to_bytes()).further) == {"patient", "time"}


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"column_names": ["a"]}, r"names 1 columns, and x has the shape \(3, 2\)"),
        ({"column_names": ["a", "a"]}, "Two columns are named 'a'"),
        ({"column_names": ["a", "b"], "b": ["u", "v", "w"]}, "Two columns are named 'b'"),
        ({"column_names": [1, 2]}, "must hold one text for each column"),
        ({"column_names": [["a", "b"]]}, "must hold one text for each column"),
        ({"column_names": ["a", "b"], "x": np.zeros((3, 2, 1))}, "names 2 columns, and x has the shape"),
        ({"column_names": np.array([97, 0x110000], dtype=np.uint32).view("U1")}, "not text"),
        (
            {"patient": np.array([97, 98, 0x110000], dtype=np.uint32).view("U1")},
            "patient holds something that is not text",
        ),
        ({"column_names": np.array(["a", "b"], dtype=object)}, "never unpickled"),
    ],
)
def test_names_of_npz_columns_that_are_none(tmp_path: Path, arrays: dict[str, Any], words: str) -> None:
    file = tmp_path / "d.npz"
    np.savez(file, **{"x": np.zeros((3, 2)), "y": np.arange(3), **arrays})
    with pytest.raises(DataError, match=words):
        read(file)


def test_times_of_parquet_are_numbers_and_lists_beside_other_columns_have_names(tmp_path: Path) -> None:
    file = tmp_path / "d.parquet"
    times = np.array(["2024-01-02", "2024-01-01", "2024-01-03"], dtype="datetime64[s]")
    pq.write_table(pa.table({"v": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "time": times, "y": [0, 1, 0]}), file)
    found = read(file)
    assert found.names == ["v[0]", "v[1]", "time"]
    assert np.argsort(found.x[:, 2]).tolist() == [1, 0, 2]


def test_a_number_in_a_column_of_text_is_text_and_words_for_nothing_in_a_column_of_numbers_are_missing(
    tmp_path: Path,
) -> None:
    file = tmp_path / "d.csv"
    file.write_text("a,b,c,y\n1,1,NA,0\n2,two,4,1\n3,NA,nan,2\n")
    found = read(file)
    assert found.names == ["a", "c"]
    np.testing.assert_array_equal(found.x[:, 1], [np.nan, 4, np.nan])
    text = found.further["b"]
    assert isinstance(text, TextColumn)
    assert [text.values[code] for code in text.codes] == ["1", "two", "NA"]


def test_inputs_of_a_file_are_put_in_order_by_name(tmp_path: Path) -> None:
    file = tmp_path / "d.csv"
    file.write_text("b,name,a,y\n1,u,2,0\n3,v,4,1\n")
    assert read_inputs(file).tolist() == [[1, 2], [3, 4]]
    assert read_inputs(file, columns=["a", "b"]).tolist() == [[2, 1], [4, 3]]
    with pytest.raises(DataError, match=r"takes a column 'aa', and the data have none; the nearest is 'a'"):
        read_inputs(file, columns=["aa", "b"])
    with pytest.raises(DataError, match=r"takes the column 'name', but it holds text \('u' in row 1\)"):
        read_inputs(file, columns=["name", "b"])
    file.write_text("b,a,y\n1,2,0\n3,,1\n")
    with pytest.raises(DataError, match="Column 'a' is an input, and has no number in row 2"):
        read_inputs(file)
    assert read_inputs(file, columns=["b"]).tolist() == [[1], [3]]


def test_a_long_text_counts_against_the_limit(tmp_path: Path) -> None:
    file = tmp_path / "d.csv"
    file.write_text("a,b,y\n" + "".join(f"{n},{'t' * 1000}{n},0\n" for n in range(100)))
    with pytest.raises(DataError, match="unpacks to"):
        read(file, limits=Limits(unpacked_bytes=50_000))
    assert len(read(file).further) == 1


class DataFrame:
    """As little of a data frame as is needed."""

    def __init__(self, columns: dict[str, Any]) -> None:
        self._columns = columns
        self.columns = list(columns)

    def __getitem__(self, name: str) -> Any:
        return np.asarray(self._columns[name])

    def __len__(self) -> int:
        return len(next(iter(self._columns.values())))


def test_data_frames_are_known_by_what_they_can_do() -> None:
    table = {"a": [1.0, 2.0], "b": np.array(["u", None], dtype=object), "c": np.array([1, None], dtype=object)}
    for frame in (as_frame(DataFrame(table)), as_frame(pa.table({"a": [1.0, 2.0], "b": ["u", None], "c": [1, None]}))):
        assert frame.names == ["a", "c"]
        np.testing.assert_array_equal(np.asarray(frame.x), [[1, 1], [2, np.nan]])
        assert isinstance(frame.further["b"], TextColumn)
    assert as_frame(np.zeros((2, 2))).names is None
    assert as_frame(DataFrame({0: [1.0], 1: [2.0]})).names is None  # type: ignore[dict-item]


def test_a_column_that_is_not_there_is_named_with_the_nearest() -> None:
    frame = Frame(np.zeros((2, 1)), ["age"], {"patient": TextColumn.of(["a", "b"])})
    with pytest.raises(DataError, match=r"clusters: there is no column 'pateint'; the nearest is 'patient'") as caught:
        frame.column("pateint", "clusters")
    assert caught.value.field == "clusters"
    with pytest.raises(DataError, match=r"order: there is no column 'when'; there are 'age', 'patient'"):
        frame.column("when", "order")
