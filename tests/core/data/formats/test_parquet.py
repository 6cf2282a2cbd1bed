"""Parquet, read in a process of its own: what ends that process is an error here, and nothing more."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

from certiset.core.data import Limits
from certiset.core.data.formats.parquet import PARQUET
from certiset.core.errors import DataError
from tests.core.data import files
from tests.core.data.files import X, Y, read, write
from tests.core.data.formats.laws import FormatLaws
from tests.core.data.parquet import CONTRADICTORY, NAMELESS, with_footer
from tests.launcher import confined_by_forking


@pytest.fixture(autouse=True, scope="module")
def _forked() -> Iterator[None]:
    with confined_by_forking():
        yield


class TestParquet(FormatLaws):
    name = "parquet"

    def content(self, x: NDArray[Any], y: NDArray[Any], target: str) -> bytes:
        return files.parquet(x, y, target)


def test_a_column_of_lists_is_x(tmp_path: Path) -> None:
    file = tmp_path / "lists.parquet"
    pq.write_table(pa.table({"x": pa.array(X.tolist(), pa.list_(pa.float32())), "y": Y}), file)
    assert np.array_equal(read(file).x, X.astype(np.float32))


def test_flaws_are_named(tmp_path: Path) -> None:
    file = tmp_path / "d.parquet"
    for table, words in (
        ({"a": [1.0, 2.0, 2.0], "y": [0, None, 2]}, "Row 2, column 'y' is empty"),
        ({"a": [1.0, 2.0, float("inf")], "y": [0, 1, 2]}, "Row 3, column 'a' is inf"),
        ({"a": ["u", "v"], "y": [0, 1]}, "no column of numbers left for x"),
        ({"a": [b"u", b"v"], "y": [0, 1]}, "Column 'a' holds binary, not numbers"),
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


def test_a_file_that_unpacks_too_large_is_refused_by_its_footer(tmp_path: Path) -> None:
    file = tmp_path / "d.parquet"
    pq.write_table(pa.table({"a": np.zeros(10**6), "y": np.zeros(10**6, dtype=np.int64)}), file)
    assert file.stat().st_size < 10**5
    with pytest.raises(DataError, match="unpacks to"):
        read(file, limits=Limits(unpacked_bytes=10**6))


def test_a_long_string_that_is_repeated_is_never_unpacked(tmp_path: Path) -> None:
    """Dictionary-encoded, a gigabyte fits into a small file."""
    file = tmp_path / "d.parquet"
    text = pa.DictionaryArray.from_arrays(pa.array(np.zeros(50_000, dtype=np.int32)), pa.array(["x" * 20_000]))
    pq.write_table(pa.table({"a": text, "y": np.zeros(50_000)}), file)
    before = pa.total_allocated_bytes()
    with pytest.raises(DataError, match="no column of numbers"):
        PARQUET.read(file, "y", Limits())
    assert pa.total_allocated_bytes() - before < 2**24


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1PAR1", b"PAR1" + bytes(300) + b"\xff\xff\xff\x7fPAR1"])
def test_noise_is_an_error(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "d.parquet"
    file.write_bytes(content)
    with pytest.raises(DataError, match="The file is not a whole Parquet file"):
        read(file)


@pytest.mark.parametrize(
    ("description", "words"),
    [
        (CONTRADICTORY, "The file is not a whole Parquet file, .* reading it failed"),
        (NAMELESS, "a column's name is not UTF-8"),
    ],
)
def test_a_footer_that_the_library_does_not_expect(tmp_path: Path, description: bytes, words: str) -> None:
    """Statistics that contradict a column's description end the process that looks at them, with no exception."""
    file = tmp_path / "d.parquet"
    file.write_bytes(with_footer(description))
    with pytest.raises(DataError, match=words):
        read(file)
