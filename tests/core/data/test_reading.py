"""From a file to arrays: what all formats have in common, and noise as any of them."""

import contextlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certiset.core.data import DatasetArrays, read_dataset, read_inputs, suffixes
from certiset.core.data.formats import format_of, is_sandboxed
from certiset.core.errors import DataError
from tests.core.data.files import X, Y, read, write

HERE = [suffix for suffix in suffixes() if not is_sandboxed(format_of(f"d{suffix}"))]
"""read in this process, where a thousand damaged files take seconds; each other file starts a process"""


@pytest.mark.parametrize("suffix", [".npz", ".json"])
def test_x_is_no_target_where_it_names_the_inputs(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(DataError, match="target must name the column or array of y") as caught:
        read(write(tmp_path, suffix), target="x")
    assert caught.value.field == "target"


@given(suffix=st.sampled_from(HERE), content=st.binary(max_size=400))
def test_noise_is_an_error_and_never_a_crash(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, content: bytes
) -> None:
    file = tmp_path_factory.mktemp("noise") / f"d{suffix}"
    file.write_bytes(content)
    with contextlib.suppress(DataError):
        read(file)


@pytest.mark.parametrize("suffix", suffixes())
def test_a_file_may_be_read_as_inputs_without_truths(tmp_path: Path, suffix: str) -> None:
    file = write(tmp_path, suffix)
    found = read_dataset(file, file.name, None)
    assert found.y_kind == "none"
    assert "y" not in found.tensors()
    again = DatasetArrays.from_bytes(found.to_bytes())
    assert (again.y_kind, again.names) == ("none", found.names)
    assert np.array_equal(again.x, found.x)
    with pytest.raises(DataError, match="has no truths"):
        _ = again.truths


@pytest.mark.parametrize("suffix", suffixes())
def test_inputs_are_read_with_or_without_a_target(tmp_path: Path, suffix: str) -> None:
    file = write(tmp_path, suffix)
    assert np.array_equal(read_inputs(file), X)
    all_columns = suffix != ".npz"
    assert np.array_equal(read_inputs(file, "other"), np.column_stack([X, Y]) if all_columns else X)
