"""Groups have the same names in whatever form they come, and what could not be told apart or stored is refused."""

from typing import Any

import numpy as np
import pytest

from certiset.core.data.frame import TextColumn, as_column
from certiset.core.data.group_labels import GroupLabels, complete, group_text, read_group_labels
from certiset.core.errors import DataError


def named(given: Any, columns: int = 1) -> list[tuple[str, ...]]:
    labels = read_group_labels(given, len(given), columns)
    return [labels.names[code] for code in labels.codes.tolist()]


class Series:
    """As little of a data frame's column as is needed."""

    def __init__(self, cells: list[Any]) -> None:
        self._cells = np.array(cells, dtype=object)

    def to_numpy(self) -> Any:
        return self._cells


@pytest.mark.parametrize(
    "given",
    [
        [1, 2, 1],
        (1, 2, 1),
        (1.0, "2", True),
        [1.0, "2", True],
        [np.float32(1), np.int8(2), np.bool_(True)],
        np.array([1, 2, 1], dtype=np.uint8),
        np.array([1, 2, 1], dtype=np.float16),
        np.array(["1", "2", "1"]),
        np.array([b"1", b"2", b"1"]),
        np.array([1.0, "2", True], dtype=object),
    ],
    ids=str,
)
def test_numbers_text_and_bytes_of_one_value_are_one_group(given: Any) -> None:
    assert named(given) == [("1",), ("2",), ("1",)]


def test_a_column_that_mixes_numbers_and_text_has_the_names_of_a_list() -> None:
    column = as_column(Series([1.0, "north", True, 0.5]))
    labels = GroupLabels.of([complete(column, "groups")])
    assert [labels.names[code] for code in labels.codes] == named([1.0, "north", True, 0.5])


@pytest.mark.parametrize("text", ["1.0", "01", " 1", "true", "True", "1e0"])
def test_text_is_what_it_is(text: str) -> None:
    """A group that was a text is no number, so that no two of them become one."""
    assert named([text, "1"]) == [(text,), ("1",)]


def test_groups_in_other_letters_keep_them() -> None:
    texts = ["Zürich", "東京", "a, b", "'; drop table", "\n", "e\u0301", "\u00e9", "x" * 200]
    assert named(texts) == [(text,) for text in texts]
    assert named(np.array([text.encode() for text in texts])) == [(text,) for text in texts]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["a", None], "missing in row 2"),
        (["a", float("nan")], "missing in row 2"),
        (np.array([1.0, np.nan]), "missing in row 2"),
        (["a", ""], "missing in row 2"),
        (np.array(["a", ""]), "missing in row 2"),
        (np.array([b"a", b""]), "missing in row 2"),
        ([1.0, float("inf")], ""),
        (np.array([1.0, np.inf]), "finite"),
        (["a", "\ud800"], "no text has"),
        (["a", "b\0"], "no text has"),
        (["a", "x" * 201], "more than 200"),
        (["a", 10**300], "more than 200"),
        (np.array([b"a", b"\xff"]), "not text"),
        (np.array([97, 0x7FFFFFFF], dtype=np.uint32).view("U1"), "not text"),
        (["a", {}], "a text or a number"),
        (["a", 1j], "by text or numbers"),
        (["a"] * 3, "3 entries for 2 rows"),
    ],
)
def test_what_is_missing_or_no_name_is_refused(given: Any, message: str) -> None:
    if not message:
        # A list may hold it as text, and no array of numbers does.
        assert named(given) == [("1",), ("inf",)]
        return
    with pytest.raises(DataError, match=message):
        read_group_labels(given, 2, 1)


@pytest.mark.parametrize("value", ["\ud800", "a\0", "x" * 201, None, b"a", [1]])
def test_a_client_refuses_what_the_service_would_misread(value: Any) -> None:
    with pytest.raises(DataError):
        group_text(value)


def test_a_hundred_thousand_groups_are_read_at_once() -> None:
    """Most of them have no threshold; how many may have one is a fit's to say."""
    labels = read_group_labels(np.arange(100_000), 100_000, 1)
    assert len(labels.names) == 100_000
    crossed = read_group_labels(np.column_stack([np.arange(100_000), np.arange(100_000) % 7]), 100_000, 2)
    assert crossed.names[8] == ("8", "1")


def test_a_text_column_with_an_empty_text_is_incomplete() -> None:
    with pytest.raises(DataError, match="missing in row 3"):
        complete(TextColumn.of(["a", "b", ""]), "groups")
