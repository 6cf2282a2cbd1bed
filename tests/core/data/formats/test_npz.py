""".npz files: pickles stay closed, headers that lie are refused, sizes are known before anything is unpacked."""

import io
import pickle
import struct
import zipfile
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
from tests.core.data.files import X, Y, read, write
from tests.core.data.formats.laws import FormatLaws


class TestNpz(FormatLaws):
    name = "npz"

    def content(self, x: NDArray[Any], y: NDArray[Any], target: str) -> bytes:
        return files.npz(x, y, target)


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


def test_the_kind_of_y(tmp_path: Path) -> None:
    for y, kind in (([0.5, 1.0, 2.0], "numbers"), ([-1, 0, 1], "numbers"), ([[1, 2], [3, 4], [5, 6]], "vectors")):
        assert read(write(tmp_path, ".npz", y=np.array(y))).y_kind == kind


def test_images_keep_their_shape(tmp_path: Path) -> None:
    images = np.arange(3 * 1 * 4 * 4, dtype=np.uint8).reshape(3, 1, 4, 4)
    assert read(write(tmp_path, ".npz", x=images)).x.shape == (3, 1, 4, 4)


class Bomb:
    def __reduce__(self) -> Any:
        return (pytest.fail, ("a pickle was opened",))


def test_pickles_inside_are_not_opened(tmp_path: Path) -> None:
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


def test_flaws_are_named(tmp_path: Path) -> None:
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


@given(data=st.data())
def test_a_damaged_file_is_an_error_or_finite_numbers(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    file = write(tmp_path_factory.mktemp("damaged"), ".npz")
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
