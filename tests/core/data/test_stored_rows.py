"""Some rows of a stored dataset, read as ranges of its file."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certiset.core.class_names import NamedTruths
from certiset.core.data import DatasetArrays
from certiset.core.data.frame import Column, Frame, TextColumn, column_values
from certiset.core.data.stored_rows import map_dataset, read_class_names, read_further, read_rows
from certiset.core.errors import DamagedFileError

KINDS = ("f4", "f8", "i8", "u1", "?", "i2")


@given(
    rows=st.integers(2, 30),
    shape=st.sampled_from([(), (3,), (2, 4)]),
    kind=st.sampled_from(KINDS),
    start=st.integers(0, 40),
    count=st.integers(1, 40),
)
def test_they_are_the_rows_of_the_whole(rows: int, shape: tuple[int, ...], kind: str, start: int, count: int) -> None:
    x = (np.arange(rows * int(np.prod(shape))) % 100).astype(kind).reshape(rows, *shape)
    y = np.arange(rows) * 0.5
    content = DatasetArrays(x, y).to_bytes()
    read = 0

    def part(first: int, last: int) -> bytes:
        nonlocal read
        read += last - first
        return content[first:last]

    found_x, found_y = read_rows(part, start, count)
    np.testing.assert_array_equal(found_x, x[start : start + count])
    np.testing.assert_array_equal(found_y, y[start : start + count])
    assert found_x.dtype == x.dtype
    header = 8 + int.from_bytes(content[:8], "little")
    assert read <= header + found_x.nbytes + found_y.nbytes


@pytest.mark.parametrize("content", [b"", b"\xff" * 40, b"\x02\0\0\0\0\0\0\0{}", b"\x05\0\0\0\0\0\0\0nonsense"])
def test_a_damaged_file_is_said_to_be_one(content: Any) -> None:
    with pytest.raises(DamagedFileError, match="The stored dataset is damaged"):
        read_rows(lambda first, last: content[first:last], 0, 5)


@pytest.mark.parametrize(("most_numbers", "rows"), [(None, 5), (100, 5), (24, 4), (6, 1), (0, 1)])
def test_wide_rows_come_a_few_at_a_time(most_numbers: int | None, rows: int) -> None:
    content = DatasetArrays(np.zeros((9, 2, 3)), np.arange(9)).to_bytes()
    x, y = read_rows(lambda first, last: content[first:last], 2, 5, most_numbers=most_numbers)
    assert (x.shape, y.tolist()) == ((rows, 2, 3), list(range(2, 2 + rows)))


def test_all_rows_as_views_of_the_file(tmp_path: Path) -> None:
    x, y = np.arange(24, dtype=np.float32).reshape(4, 2, 3), np.array([3, 1, 2, 0])
    file = tmp_path / "stored"
    file.write_bytes(DatasetArrays(x, y).to_bytes())
    found = map_dataset(file)
    found_x, found_y = found.x, found.y
    assert isinstance(found_x, np.memmap)
    np.testing.assert_array_equal(found_x, x)
    np.testing.assert_array_equal(found_y, y)
    file.write_bytes(b"\x05\0\0\0\0\0\0\0nonsense")
    with pytest.raises(DamagedFileError, match="The stored dataset is damaged"):
        map_dataset(file)


def test_further_columns_and_names_of_classes_are_read_with_their_rows() -> None:
    text = ["b", None, "a", "b", "c"]
    further: dict[str, Column] = {"year": np.array([1.0, np.nan, 3, 4, 5]), "town": TextColumn.of(text)}
    truths = NamedTruths(np.array([1, 0, 1, 1, 0]), ("no", "yes"))
    content = DatasetArrays.checked(Frame(np.arange(10.0).reshape(5, 2), ["p", "q"], further), truths).to_bytes()

    def part(first: int, last: int) -> bytes:
        return content[first:last]

    found = {name: column_values(column) for name, column in read_further(part, 1, 3).items()}
    assert found == {"year": (None, 3.0, 4.0), "town": (None, "a", "b")}
    assert read_class_names(part) == ["no", "yes"]
    plain = DatasetArrays(np.zeros((3, 2)), np.zeros(3)).to_bytes()
    assert read_further(lambda first, last: plain[first:last], 0, 3) == {}
    assert read_class_names(lambda first, last: plain[first:last]) is None


def test_text_with_too_many_values_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("certiset.core.data.stored_rows._LONGEST_TEXTS", 10)
    frame = Frame(np.zeros((4, 1)), ["p"], {"town": TextColumn.of(["a long name", "b", "c", "d"]), "year": np.ones(4)})
    content = DatasetArrays.checked(frame, np.zeros(4)).to_bytes()
    assert list(read_further(lambda first, last: content[first:last], 0, 4)) == ["year"]
