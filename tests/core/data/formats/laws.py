"""Laws of every file format. The test of a format says how such a file is written, and inherits them."""

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from certiset.core.data import FORMATS, DatasetArrays, FileFormat, Limits, suffixes
from certiset.core.data.formats import format_of, is_sandboxed
from certiset.core.errors import DataError
from tests.core.data.files import X, Y, read


class FormatLaws:
    name: ClassVar[str]
    """in the registry"""

    def content(self, x: NDArray[Any], y: NDArray[Any], target: str) -> bytes:
        """A file with two columns of x, and y under the target's name."""
        raise NotImplementedError

    @property
    def format(self) -> FileFormat:
        return FORMATS[self.name]

    def file(self, folder: Path, x: Any = X, y: Any = Y, target: str = "y") -> Path:
        file = folder / f"data{self.format.suffixes[0]}"
        file.write_bytes(self.content(x, y, target))
        return file

    def test_it_is_found_by_each_of_its_suffixes_in_any_case(self) -> None:
        for suffix in self.format.suffixes:
            assert suffix == suffix.lower()
            assert suffix.startswith(".")
            assert suffix in suffixes()
            assert format_of(f"data{suffix}") == format_of(f"DATA{suffix.upper()}") == self.name

    def test_it_describes_itself_in_a_phrase(self) -> None:
        assert self.format.name
        assert len(self.format.summary) > 10
        assert not self.format.summary.endswith(".")

    def test_it_reads_what_was_written(self, tmp_path: Path) -> None:
        found = read(self.file(tmp_path))
        assert np.array_equal(found.x, X)
        assert np.array_equal(found.y, Y)
        assert found.y.ndim == 1
        assert found.y_kind == "labels"
        back = DatasetArrays.from_bytes(found.to_bytes())
        assert np.array_equal(back.x, X)
        assert np.array_equal(back.y, Y)

    def test_the_target_can_have_another_name(self, tmp_path: Path) -> None:
        found = read(self.file(tmp_path, target="truth"), target="truth")
        assert np.array_equal(found.x, X)
        assert np.array_equal(found.y, Y)

    def test_a_target_that_is_not_there_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match="nowhere"):
            read(self.file(tmp_path), target="nowhere")

    def test_a_target_without_a_name_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match="target must name the column or array of y") as caught:
            read(self.file(tmp_path), target=" ")
        assert caught.value.field == "target"

    def test_one_row_is_too_few(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match="at least two are needed"):
            read(self.file(tmp_path, X[:1], Y[:1]))

    def test_a_number_that_is_not_finite_is_named_with_its_row_counted_from_1(self, tmp_path: Path) -> None:
        flawed = X.copy()
        flawed[2, 1] = np.inf
        with pytest.raises(DataError, match=r"[Rr]ow 3\b"):
            read(self.file(tmp_path, flawed))

    def test_arrays_that_are_larger_than_the_limit_are_refused(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match="unpacks to"):
            read(self.file(tmp_path), limits=Limits(unpacked_bytes=X.nbytes))

    def test_an_empty_file_is_refused(self, tmp_path: Path) -> None:
        file = self.file(tmp_path)
        file.write_bytes(b"")
        with pytest.raises(DataError):
            read(file)

    def test_a_cut_damaged_or_random_file_is_an_error_or_finite_numbers(self, tmp_path: Path) -> None:
        file = self.file(tmp_path)
        whole = file.read_bytes()
        rng = np.random.default_rng(0)
        # Each file in a sandbox starts a process.
        for _ in range(4 if is_sandboxed(self.name) else 100):
            damaged = np.frombuffer(whole, dtype=np.uint8).copy()
            damaged[rng.integers(len(whole), size=3)] = rng.integers(256, size=3)
            for content in (whole[: rng.integers(len(whole))], damaged.tobytes(), rng.bytes(int(rng.integers(300)))):
                file.write_bytes(content)
                try:
                    found = read(file)
                except DataError:
                    continue
                assert not np.isinf(found.x).any()
                assert found.names is not None or np.isfinite(found.x).all()
                assert np.isfinite(found.y).all()
                assert len(found.x) == len(found.y) > 1
