"""Targets that are the names of classes, in every format, stored as codes with their names."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from certiset.core.class_names import NamedTruths
from certiset.core.data.dataset import DatasetArrays
from certiset.core.data.limits import Limits
from certiset.core.data.reading import read_rows_of
from certiset.core.errors import DataError

PETS = ["cat", "dog", "cat"]


def _csv(file: Path) -> None:
    file.write_text("a,pet\n1,cat\n2,dog\n3,cat\n")


def _parquet(file: Path) -> None:
    pq.write_table(pa.table({"a": [1.0, 2.0, 3.0], "pet": PETS}), file)


def _records(file: Path) -> None:
    file.write_text(json.dumps([{"a": place, "pet": pet} for place, pet in enumerate(PETS)]))


def _object(file: Path) -> None:
    file.write_text(json.dumps({"x": [[1], [2], [3]], "pet": PETS}))


def _npz(file: Path) -> None:
    np.savez(file, x=np.arange(3.0)[:, None], pet=np.array(PETS))


@pytest.mark.parametrize(
    ("suffix", "write"),
    [("csv", _csv), ("parquet", _parquet), ("json", _records), ("json", _object), ("npz", _npz)],
)
def test_names_are_stored_with_their_codes(suffix: str, write: Callable[[Path], None], tmp_path: Path) -> None:
    file = tmp_path / f"pets.{suffix}"
    write(file)
    frame, y = read_rows_of(suffix, file, "pet", Limits())
    stored = DatasetArrays.from_bytes(DatasetArrays.checked(frame, y).to_bytes())
    truths = stored.truths
    assert isinstance(truths, NamedTruths)
    assert (truths.codes.tolist(), truths.names) == ([0, 1, 0], ("cat", "dog"))
    assert stored.y_kind == "labels"
    assert "pet" not in stored.further


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ("cat\n2,3", "Row 1, column 'pet' holds 'cat', which is not a number: truths are all numbers, or all names"),
        ("cat\n2,", "Row 2, column 'pet' is empty: every row needs a truth"),
        ("7\n2,dog", "Row 2, column 'pet' holds 'dog', which is not a number"),
    ],
)
def test_text_among_numbers_is_a_mistake(cells: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "pets.csv"
    file.write_text(f"a,pet\n1,{cells}\n")
    with pytest.raises(DataError, match=message):
        read_rows_of("csv", file, "pet", Limits())


def test_a_missing_target_names_the_nearest_column(tmp_path: Path) -> None:
    file = tmp_path / "pets.csv"
    _csv(file)
    with pytest.raises(DataError, match="There is no column 'pets' for the target; the nearest is 'pet'"):
        read_rows_of("csv", file, "pets", Limits())
