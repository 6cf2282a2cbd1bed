"""JSON: an object of arrays or a list of records, with the place of every flaw."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from certiset.core.data import Limits
from certiset.core.errors import DataError
from tests.core.data import files
from tests.core.data.files import read
from tests.core.data.formats.laws import FormatLaws


class TestJsonRecords(FormatLaws):
    name = "json"

    def content(self, x: NDArray[Any], y: NDArray[Any], target: str) -> bytes:
        return files.json_records(x, y, target)


class TestJsonArrays(FormatLaws):
    name = "json"

    def content(self, x: NDArray[Any], y: NDArray[Any], target: str) -> bytes:
        return files.json_arrays(x, y, target)


def test_images_keep_their_shape(tmp_path: Path) -> None:
    images = np.arange(3 * 1 * 4 * 4).reshape(3, 1, 4, 4)
    file = tmp_path / "images.json"
    file.write_text(json.dumps({"x": images.tolist(), "y": [0, 1, 2]}))
    assert np.array_equal(read(file).x, images)


FLAWS = {
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
    '[{"a": 1, "y": 0}, {"a": 2, "y": "b"}]': "Row 2, column 'y' holds \"b\"",
    '[{"a": 1, "y": 0}, {"a": 2, "y": null}]': "Row 2, column 'y' holds null",
    '[{"a": 1, "y": 0}, {"a": "b", "y": 1}]': "no column of numbers left for x",
    '[{"a": 1, "y": 0}, {"a": true, "y": 1}]': "Row 2, column 'a' holds true",
    '[{"a": 1, "y": 0}, {"a": 2, "a": 3, "y": 1}]': 'has the field "a" twice',
    '{"x": [[1], [2]], "y": [0, 1], "x": [[2], [1]]}': 'has the field "x" twice',
    "[" * 100_000: "not JSON",
    '{"x": [[1], [' + "9" * 400 + ']], "y": [0, 1]}': "x holds a number that is too large|must hold numbers",
    '[{"a": 1, "y": 0}, {"a": ' + "9" * 400 + ', "y": 1}]': "Row 2, column 'a' holds a number that is too large",
    '{"x": [[1], [' + "9" * 5000 + ']], "y": [0, 1]}': "not JSON",
}


@pytest.mark.parametrize("text", FLAWS)
def test_a_flaw_is_named_with_its_place(tmp_path: Path, text: str) -> None:
    file = tmp_path / "d.json"
    file.write_text(text)
    with pytest.raises(DataError, match=FLAWS[text]):
        read(file)


def test_a_file_that_is_too_long_to_parse_is_refused_unread(tmp_path: Path) -> None:
    file = tmp_path / "d.json"
    file.write_text(" " * 2000)
    with pytest.raises(DataError, match="at most 1,000 bytes"):
        read(file, limits=Limits(json_bytes=1000))
