"""Every format gives the same arrays, and every flaw a sentence with its place."""

import contextlib
import io
import json
import pickle
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.datasets import KINDS, DatasetArrays, Limits, read_dataset
from core.datasets.parquet_file import parse_parquet
from core.errors import DataError, FileKindError
from tests.datasets.parquet import CONTRADICTORY, NAMELESS, with_footer

X = np.array([[0.5, -1.25], [1e-3, 2.0], [7.0, 3.5]])
Y = np.array([0, 2, 1])


def write(folder: Path, kind: str, x: Any = X, y: Any = Y) -> Path:
    file = folder / f"data{kind}"
    if kind == ".npz":
        np.savez(file, x=x, y=y)
    elif kind == ".csv":
        rows = [",".join(map(repr, [*map(float, a), b.item()])) for a, b in zip(x, y, strict=True)]
        file.write_text("\n".join(["a,b,y", *rows]) + "\n")
    elif kind == ".parquet":
        pq.write_table(pa.table({"a": x[:, 0], "b": x[:, 1], "y": y}), file)
    else:
        file.write_text(json.dumps([{"a": a, "b": b, "y": int(t)} for (a, b), t in zip(x.tolist(), y, strict=True)]))
    return file


def read(file: Path, **options: Any) -> DatasetArrays:
    return read_dataset(file, file.name, **options)


@pytest.mark.parametrize("kind", KINDS)
def test_all_formats_give_the_same_arrays(tmp_path: Path, kind: str) -> None:
    found = read(write(tmp_path, kind))
    assert np.array_equal(found.x, X)
    assert np.array_equal(found.y, Y)
    assert found.y.ndim == 1
    assert found.y_kind == "labels"
    back = DatasetArrays.from_bytes(found.to_bytes())
    assert np.array_equal(back.x, X)
    assert np.array_equal(back.y, Y)


def test_the_kind_of_y(tmp_path: Path) -> None:
    for y, kind in (([0.5, 1.0, 2.0], "numbers"), ([-1, 0, 1], "numbers"), ([[1, 2], [3, 4], [5, 6]], "vectors")):
        assert read(write(tmp_path, ".npz", y=np.array(y))).y_kind == kind


def test_images_keep_their_shape(tmp_path: Path) -> None:
    images = np.arange(3 * 1 * 4 * 4, dtype=np.uint8).reshape(3, 1, 4, 4)
    assert read(write(tmp_path, ".npz", x=images)).x.shape == (3, 1, 4, 4)
    file = tmp_path / "images.json"
    file.write_text(json.dumps({"x": images.tolist(), "y": [0, 1, 2]}))
    assert read(file).x.shape == (3, 1, 4, 4)
    file = tmp_path / "lists.parquet"
    pq.write_table(pa.table({"x": pa.array(X.tolist(), pa.list_(pa.float32())), "y": Y}), file)
    assert np.array_equal(read(file).x, X.astype(np.float32))


def test_several_target_columns(tmp_path: Path) -> None:
    file = tmp_path / "d.csv"
    file.write_text("y_1,a,y_0\n1,2,3\n4,5,6\n")
    assert read(file).y.tolist() == [[3, 1], [6, 4]]
    assert read(file, target="a").y.tolist() == [2, 5]
    assert read(file, target="y_1, a").y.tolist() == [[1, 2], [4, 5]]


def test_a_byte_order_mark_blank_lines_quotes_and_windows_line_ends_are_fine(tmp_path: Path) -> None:
    file = tmp_path / "d.csv"
    file.write_bytes(b'\xef\xbb\xbf"a","y"\r\n1,"0"\r\n\r\n"2.5",1\r\n')
    assert read(file).x.tolist() == [[1], [2.5]]


def test_many_blocks_of_lines(tmp_path: Path) -> None:
    table = np.random.default_rng(0).normal(size=(120_000, 6))
    file = tmp_path / "d.csv"
    np.savetxt(file, table, delimiter=",", header="a,b,c,d,e,y", comments="")
    found = read(file)
    assert np.allclose(found.x, table[:, :5], rtol=1e-15)
    assert np.allclose(found.y, table[:, 5], rtol=1e-15)
    lines = file.read_text().splitlines()
    lines[110_000] = lines[110_000].replace(",", ",oops,", 1)
    file.write_text("\n".join(lines))
    with pytest.raises(DataError, match=r"Row 110000 \(line 110001\) has 7 cells"):
        read(file)


CSV_FLAWS = {
    "": "empty",
    "a,y\n": "no rows",
    "a,y\n1,0\n2,x\n": r"Row 2 \(line 3\), column 'y' holds 'x', which is not a number",
    "a,y\n1,0\n,1\n": r"Row 2 \(line 3\), column 'a' is empty",
    "a,y\n1,0\nnan,1\n": r"Row 2 \(line 3\), column 'a' holds nan",
    "a,y\n1,0\n1e999,1\n": "finite",
    "a,y\n1,0\n1_000,1\n": "holds '1_000', which is not a number",
    "a,y\n1,0\n\u0661,1\n": "which is not a number",
    "a,y\n1,0\n\n\n1,2,3\n": r"Row 2 \(line 5\) has 3 cells",
    "a,b\n1,0\n": "no column 'y'",
    "y\n1\n": "no column left for x",
    "a,a,y\n1,2,3\n": "Two columns are named 'a'",
    "a,y\n1,0\n": "at least two",
    'a,y\n"1,0\n2,1\n': "Line 2 cannot be read|not a number",
}


@pytest.mark.parametrize("text", CSV_FLAWS)
def test_a_flaw_in_csv_is_named_with_its_place(tmp_path: Path, text: str) -> None:
    file = tmp_path / "d.csv"
    file.write_text(text)
    with pytest.raises(DataError, match=CSV_FLAWS[text]):
        read(file)


def test_csv_with_a_million_columns_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "d.csv"
    file.write_text(",".join(f"c{i}" for i in range(10**6)) + ",y\n")
    with pytest.raises(DataError, match="1,000,001 columns"):
        read(file)


def test_csv_in_another_encoding_is_refused_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "d.csv"
    file.write_bytes(b"a,y\n1,0\n\xff\xfe,1\n")
    with pytest.raises(DataError, match="Line 3 is not UTF-8 at byte 1"):
        read(file)


def test_csv_without_line_ends_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "d.csv"
    file.write_bytes(b"a,y\n" + b"1" * 5000)
    with pytest.raises(DataError, match="longer than 1,000 bytes"):
        read(file, limits=Limits(line_bytes=1000))


JSON_FLAWS = {
    "": "not JSON",
    "[]": "one for each row",
    "3": "must hold an object",
    '{"x": [[1], [2]]}': "with x and y",
    '{"x": [[1], [2, 3]], "y": [0, 1]}': r"x, row 2 has the shape \(2,\)",
    '{"x": [[1], ["a"]], "y": [0, 1]}': 'x, row 2 holds "a", which is not a number',
    '{"x": [[1], [null]], "y": [0, 1]}': "x, row 2 holds null",
    '{"x": [[1], [NaN]], "y": [0, 1]}': "NaN is not a number",
    '{"x": [[1], [1e999]], "y": [0, 1]}': "x, row 2 is not finite",
    '{"x": [[1], [2]], "y": [0, 1, 2]}': "x has 2 rows and y has 3",
    '{"x": 5, "y": [0, 1]}': "x must be a list",
    '[{"a": 1, "y": 0}, {"a": 2}]': "Row 2 does not have the same fields",
    '[{"a": 1, "y": 0}, {"a": "b", "y": 1}]': "Row 2, column 'a' holds \"b\"",
    '[{"a": 1, "y": 0}, {"a": true, "y": 1}]': "Row 2, column 'a' holds true",
    "[" * 100_000: "not JSON",
    '{"x": [[1], [' + "9" * 400 + ']], "y": [0, 1]}': "x holds a number that is too large|must hold numbers",
    '[{"a": 1, "y": 0}, {"a": ' + "9" * 400 + ', "y": 1}]': "Row 2, column 'a' holds a number that is too large",
    '{"x": [[1], [' + "9" * 5000 + ']], "y": [0, 1]}': "not JSON",
}


@pytest.mark.parametrize("text", JSON_FLAWS)
def test_a_flaw_in_json_is_named_with_its_place(tmp_path: Path, text: str) -> None:
    file = tmp_path / "d.json"
    file.write_text(text)
    with pytest.raises(DataError, match=JSON_FLAWS[text]):
        read(file)


def test_json_that_is_too_long_to_parse_is_refused_unread(tmp_path: Path) -> None:
    file = tmp_path / "d.json"
    file.write_text(" " * 2000)
    with pytest.raises(DataError, match="at most 1,000 bytes"):
        read(file, limits=Limits(json_bytes=1000))


def npz(folder: Path, **arrays: bytes) -> Path:
    """A zip of whatever is given."""
    file = folder / "d.npz"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in arrays.items():
            archive.writestr(f"{name}.npy", content)
    return file


def npy(array: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=True)
    return stream.getvalue()


class Bomb:
    def __reduce__(self) -> Any:
        return (pytest.fail, ("a pickle was opened",))


def test_pickles_inside_npz_are_not_opened(tmp_path: Path) -> None:
    objects = np.empty(2, dtype=object)
    objects[:] = Bomb()
    with pytest.raises(DataError, match="never unpickled"):
        read(npz(tmp_path, x=npy(objects), y=npy(Y)))
    with pytest.raises(DataError, match="header that NumPy cannot read"):
        read(npz(tmp_path, x=pickle.dumps(Bomb()), y=npy(Y)))


def test_an_archive_that_unpacks_too_large_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    file = npz(tmp_path, x=npy(np.zeros((2, 10**7), dtype=np.uint8)), y=npy(Y[:2]))
    assert file.stat().st_size < 10**5
    with pytest.raises(DataError, match=r"unpacks to 20,000,\d+ bytes"):
        read(file, limits=Limits(unpacked_bytes=10**6))


def header(shape: str, descr: str = "'<f8'") -> bytes:
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}"
    text = text.ljust(118) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (header("(1000000000000, 1000)") + bytes(64), "claims the shape"),
        (header("(-1, 2)") + bytes(64), "claims the shape|cannot read"),
        (header("(2, 2)") + bytes(8), "expected 32 bytes got 8"),
        (header("(2, 2)", "'<M8[s]'") + bytes(32), "must hold numbers, not datetime64"),
        (header("(2, 2)", "'<c16'") + bytes(64), "must hold numbers, not complex128"),
        (header("(2, 2)", "[('a', '<f8')]") + bytes(32), "must hold numbers"),
        (header("(2, 2)", "'|S4'") + bytes(32), "must hold numbers"),
        (header("__import__('os')"), "cannot read"),
        (b"", "cannot read"),
        (header("(2, 2)", "('<f8',)") + bytes(32), "cannot read|must hold numbers"),
        (header("((((((((((2"), "cannot read"),
        (header("(2, 2)", "'<f8'][0"), "cannot read"),
    ],
)
def test_a_header_that_lies_is_refused(tmp_path: Path, content: bytes, words: str) -> None:
    with pytest.raises(DataError, match=words):
        read(npz(tmp_path, x=content, y=npy(Y[:2])))


def test_flaws_in_npz_are_named(tmp_path: Path) -> None:
    bad = X.copy()
    bad[2, 1] = np.nan
    with pytest.raises(DataError, match="x must be finite, and row 3, column 2 is nan"):
        read(write(tmp_path, ".npz", x=bad))
    with pytest.raises(DataError, match="no array named y; it holds x, z"):
        read(npz(tmp_path, x=npy(X), z=npy(Y)))
    with pytest.raises(DataError, match="x has 3 rows and y has 2"):
        read(npz(tmp_path, x=npy(X), y=npy(Y[:2])))
    with pytest.raises(DataError, match="single number"):
        read(npz(tmp_path, x=npy(np.float64(3)), y=npy(Y)))
    with pytest.raises(DataError, match="too large"):
        read(npz(tmp_path, x=npy(X), y=npy(np.array([2**64 - 1, 0, 1], dtype=np.uint64))))
    file = write(tmp_path, ".npz")
    whole = file.read_bytes()
    for cut in (0, 1, 30, len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole[:cut])
        with pytest.raises(DataError):
            read(file)


def test_flaws_in_parquet_are_named(tmp_path: Path) -> None:
    file = tmp_path / "d.parquet"
    for table, words in (
        ({"a": [1.0, None, 2.0], "y": [0, 1, 2]}, "Row 2, column 'a' is empty"),
        ({"a": [1.0, 2.0, float("inf")], "y": [0, 1, 2]}, "Row 3, column 'a' is inf"),
        ({"a": ["u", "v"], "y": [0, 1]}, "Column 'a' holds string, not numbers"),
        ({"x": [[1.0], [1.0, 2.0]], "y": [0, 1]}, "lists of different lengths"),
        ({"a": [1.0, 2.0]}, "no column 'y'"),
        ({"x": [[1.0, 2.0], [3.0, None]], "y": [0, 1]}, "Row 2, column 'x' is empty"),
        ({"x": [[1.0, 2.0], [3.0, float("nan")]], "y": [0, 1]}, "Row 2, column 'x' is nan"),
        ({"x": [[[1.0], [2.0]], None], "y": [0, 1]}, "Row 2, column 'x' is empty"),
    ):
        pq.write_table(pa.table(table), file)
        with pytest.raises(DataError, match=words):
            read(file)
    whole = write(tmp_path, ".parquet").read_bytes()
    for cut in (0, 3, len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole[:cut])
        with pytest.raises(DataError, match="not a whole Parquet file"):
            read(file)


def test_parquet_that_unpacks_too_large_is_refused_by_its_footer(tmp_path: Path) -> None:
    file = tmp_path / "d.parquet"
    pq.write_table(pa.table({"a": np.zeros(10**6), "y": np.zeros(10**6, dtype=np.int64)}), file)
    assert file.stat().st_size < 10**5
    with pytest.raises(DataError, match="unpacks to"):
        read(file, limits=Limits(unpacked_bytes=10**6))


def test_a_long_string_that_is_repeated_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    """Dictionary-encoded, a gigabyte fits into a small file."""
    file = tmp_path / "d.parquet"
    text = pa.DictionaryArray.from_arrays(pa.array(np.zeros(50_000, dtype=np.int32)), pa.array(["x" * 20_000]))
    pq.write_table(pa.table({"a": text, "y": np.zeros(50_000)}), file)
    before = pa.total_allocated_bytes()
    with pytest.raises(DataError, match=r"Column 'a' holds dictionary|Column 'a' holds string|unpacks to"):
        parse_parquet(file, "y", Limits())
    assert pa.total_allocated_bytes() - before < 2**24


def test_targets_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    for kind in (".npz", ".json"):
        with pytest.raises(DataError, match="target must name the column or array of y"):
            read(write(tmp_path, kind), target="x")
    with pytest.raises(DataError, match="twice"):
        read(write(tmp_path, ".csv"), target="y,y")


def test_other_kinds_of_files_are_refused(tmp_path: Path) -> None:
    for name in ("data.xlsx", "data", "data.npz.exe", ""):
        with pytest.raises(FileKindError, match="not one of"):
            read_dataset(tmp_path, name)


HERE = sorted(KINDS.keys() - {".parquet"})
"""read in this process, where a thousand damaged files take seconds; each Parquet file starts another one"""


@given(kind=st.sampled_from(HERE), content=st.binary(max_size=400))
def test_noise_is_an_error_and_never_a_crash(
    tmp_path_factory: pytest.TempPathFactory, kind: str, content: bytes
) -> None:
    file = tmp_path_factory.mktemp("noise") / f"d{kind}"
    file.write_bytes(content)
    with contextlib.suppress(DataError):
        read(file)


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1PAR1", b"PAR1" + bytes(300) + b"\xff\xff\xff\x7fPAR1"])
def test_noise_as_parquet_is_an_error(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "d.parquet"
    file.write_bytes(content)
    with pytest.raises(DataError, match="The file is not a whole Parquet file"):
        read(file)


@pytest.mark.parametrize(
    ("description", "words"),
    [(CONTRADICTORY, "The file is not a whole Parquet file"), (NAMELESS, "a column's name is not UTF-8")],
)
def test_a_parquet_footer_that_its_library_does_not_expect(tmp_path: Path, description: bytes, words: str) -> None:
    """Statistics that contradict a column's description end the process that looks at them, with no exception."""
    file = tmp_path / "d.parquet"
    file.write_bytes(with_footer(description))
    with pytest.raises(DataError, match=words):
        read(file)


@given(data=st.data())
def test_a_damaged_file_is_an_error_or_finite_numbers(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    damage(tmp_path_factory, ".npz", data)


@settings(max_examples=15)
@given(data=st.data())
def test_a_damaged_parquet_file_is_an_error_or_finite_numbers(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    damage(tmp_path_factory, ".parquet", data)


def damage(tmp_path_factory: pytest.TempPathFactory, kind: str, data: st.DataObject) -> None:
    file = write(tmp_path_factory.mktemp("damaged"), kind)
    content = bytearray(file.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    file.write_bytes(content)
    try:
        found = read(file)
    except DataError:
        return
    assert np.isfinite(found.x).all()
    assert len(found.x) == len(found.y)


@given(
    table=st.lists(
        st.tuples(*[st.floats(allow_nan=False, allow_infinity=False)] * 2, st.integers(0, 9)), min_size=2, max_size=20
    )
)
def test_csv_keeps_every_bit_of_every_number(
    tmp_path_factory: pytest.TempPathFactory, table: list[tuple[float, float, int]]
) -> None:
    x, y = np.array([row[:2] for row in table]), np.array([row[2] for row in table])
    found = read(write(tmp_path_factory.mktemp("csv"), ".csv", x, y))
    assert found.x.tobytes() == x.tobytes()
    assert np.array_equal(found.y, y)
