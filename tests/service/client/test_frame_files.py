"""Data frames as files: with truths, or without any."""

import io

import numpy as np
import pyarrow as pa
import pytest

from certiset.core.errors import DataError
from certiset.service.client.frame_files import frame_file

FRAME = pa.table({"age": [30.0, 41.0], "y": [0, 1], "ward": ["a", None]})


def read(content: bytes) -> dict[str, list[object]]:
    with np.load(io.BytesIO(content)) as arrays:
        return {name: arrays[name].tolist() for name in arrays.files}


def test_the_target_is_a_column_or_given_or_there_is_none() -> None:
    inputs = {"x": [[30.0], [41.0]], "column_names": ["age"], "ward": ["a", ""]}
    assert read(frame_file(FRAME, None, "y")) == {**inputs, "y": [0.0, 1.0]}
    assert read(frame_file(FRAME.select(["age", "ward"]), [5, 6], "y")) == {**inputs, "y": [5, 6]}
    everything = {**inputs, "x": [[30.0, 0.0], [41.0, 1.0]], "column_names": ["age", "y"]}
    assert read(frame_file(FRAME, None, None)) == everything


def test_a_target_that_is_not_there() -> None:
    with pytest.raises(DataError, match="no column 'z'"):
        frame_file(FRAME, None, "z")
