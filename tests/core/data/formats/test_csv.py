"""CSV: every bit of every number is kept, and every flaw has its row and line."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from certiset.core.data import Limits
from certiset.core.errors import DataError
from tests.core.data import files
from tests.core.data.files import read, write
from tests.core.data.formats.laws import FormatLaws


class TestCsv(FormatLaws):
    name = "csv"

    def content(self, x: NDArray[Any], y: NDArray[Any], target: str) -> bytes:
        return files.csv(x, y, target)


def test_several_target_columns(tmp_path: Path) -> None:
    file = tmp_path / "d.csv"
    file.write_text("y_1,a,y_0\n1,2,3\n4,5,6\n")
    assert read(file).y.tolist() == [[3, 1], [6, 4]]
    assert read(file, target="a").y.tolist() == [2, 5]
    assert read(file, target="y_1, a").y.tolist() == [[1, 2], [4, 5]]


def test_a_target_that_is_named_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="twice") as caught:
        read(write(tmp_path, ".csv"), target="y,y")
    assert caught.value.field == "target"


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


FLAWS = {
    "": "empty",
    "a,y\n": "no rows",
    "a,y\n1,0\n2,x\n": r"Row 2, column 'y' holds 'x', which is not a number",
    "a,y\n1,0\n2,\n": r"Row 2 \(line 3\), column 'y' is empty",
    "a,y\n1,0\n2,nan\n": r"Row 2 \(line 3\), column 'y' holds nan",
    "a,y\n1,0\n1e999,1\n": "finite",
    "a,y\n1,0\n2,1_000\n": "holds '1_000', which is not a number",
    "a,y\n1,0\n2,\u0661\n": "which is not a number",
    "a,y\n1,0\n1_000,1\n": "no column of numbers left for x",
    "a,y\n1,0\n\n\n1,2,3\n": r"Row 2 \(line 5\) has 3 cells",
    "a,b\n1,0\n": "no column 'y'",
    "y\n1\n": "no column left for x",
    "a,a,y\n1,2,3\n": "Two columns are named 'a'",
    "a,y\n1,0\n": "at least two",
    'a,y\n"1,0\n2,1\n': "Line 2 cannot be read|not a number",
}


@pytest.mark.parametrize("text", FLAWS)
def test_a_flaw_is_named_with_its_place(tmp_path: Path, text: str) -> None:
    file = tmp_path / "d.csv"
    file.write_text(text)
    with pytest.raises(DataError, match=FLAWS[text]):
        read(file)


def test_a_million_columns_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "d.csv"
    file.write_text(",".join(f"c{i}" for i in range(10**6)) + ",y\n")
    with pytest.raises(DataError, match="1,000,001 columns"):
        read(file)


def test_half_of_very_many_columns_can_be_targets(tmp_path: Path) -> None:
    file = tmp_path / "d.csv"
    names = [name for column in range(20_000) for name in (f"c{column}", f"y_{column}")]
    row = ",".join(["1"] * len(names))
    file.write_text("\n".join([",".join(names), row, row]))
    assert read(file).y.shape == (2, 20_000)


def test_another_encoding_is_refused_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "d.csv"
    file.write_bytes(b"a,y\n1,0\n\xff\xfe,1\n")
    with pytest.raises(DataError, match="Line 3 is not UTF-8 at byte 1"):
        read(file)


def test_a_file_without_line_ends_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "d.csv"
    file.write_bytes(b"a,y\n" + b"1" * 5000)
    with pytest.raises(DataError, match="longer than 1,000 bytes"):
        read(file, limits=Limits(line_bytes=1000))


@given(
    table=st.lists(
        st.tuples(*[st.floats(allow_nan=False, allow_infinity=False)] * 2, st.integers(0, 9)), min_size=2, max_size=20
    )
)
def test_every_bit_of_every_number_is_kept(
    tmp_path_factory: pytest.TempPathFactory, table: list[tuple[float, float, int]]
) -> None:
    x, y = np.array([row[:2] for row in table]), np.array([row[2] for row in table])
    found = read(write(tmp_path_factory.mktemp("csv"), ".csv", x, y))
    assert found.x.tobytes() == x.tobytes()
    assert np.array_equal(found.y, y)
