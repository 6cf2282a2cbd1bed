"""NumPy's .npz: a zip of arrays. Headers are read and checked before any content is."""

import zipfile
import zlib
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from certiset.core.data.arrays import check_dtype
from certiset.core.data.formats.base import FileFormat
from certiset.core.data.limits import Limits
from certiset.core.errors import DataError

_HEADER = 10_000
_STORED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def read_arrays(source: Path | BinaryIO, names: list[str], limits: Limits) -> dict[str, NDArray[Any]]:
    """The arrays of these names."""
    try:
        with zipfile.ZipFile(source) as archive:
            entries = {name: _entry(archive, name) for name in names}
            limits.check_unpacked(sum(entry.file_size for entry in entries.values()))
            return {name: _array(archive, entry, name, limits) for name, entry in entries.items()}
    except DataError:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError) as error:
        raise DataError(f"The file is not a whole .npz file: {error}.") from None


def _entry(archive: zipfile.ZipFile, name: str) -> zipfile.ZipInfo:
    found = [entry for entry in archive.infolist() if entry.filename in (f"{name}.npy", name)]
    if len(found) != 1:
        present = ", ".join(sorted(entry.filename.removesuffix(".npy") for entry in archive.infolist())[:10])
        problem = "has no array" if not found else "has more than one array"
        raise DataError(f"The .npz file {problem} named {name}; it holds {present or 'nothing'}.", field=name)
    if found[0].compress_type not in _STORED or found[0].flag_bits & 1:
        raise DataError(f"The array {name} is encrypted or compressed in a way that NumPy does not write.")
    return found[0]


def _array(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, name: str, limits: Limits) -> NDArray[Any]:
    with archive.open(entry) as stream:
        try:
            version = npy.read_magic(stream)
            shape, _, dtype = (npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0)(
                stream, max_header_size=_HEADER
            )
        except Exception as error:
            # NumPy parses headers with Python's own parser, which has many ways to say no.
            raise DataError(f"The array {name} has a header that NumPy cannot read: {_first(error)}.") from None
    if dtype.hasobject:
        raise DataError(f"The array {name} holds Python objects, which are never unpickled here.", field=name)
    check_dtype(name, dtype, f"The array {name}")
    size = int(np.prod([int(side) for side in shape], dtype=object)) * dtype.itemsize
    if any(side < 0 for side in shape) or size > entry.file_size:
        raise DataError(f"The array {name} claims the shape {shape}, for which the file holds too little.")
    limits.check_unpacked(size)
    with archive.open(entry) as stream:
        try:
            return npy.read_array(stream, allow_pickle=False, max_header_size=_HEADER)
        except ValueError as error:
            raise DataError(f"The array {name} cannot be read: {_first(error)}.") from None


def _first(error: Exception) -> str:
    return str(error).split("\n", maxsplit=1)[0].rstrip(".")[:200]


def _read(file: Path, target: str | None, limits: Limits) -> tuple[NDArray[Any], NDArray[Any] | None]:
    if target is None:
        return read_arrays(file, ["x"], limits)["x"], None
    try:
        arrays = read_arrays(file, ["x", target], limits)
    except DataError as error:
        if error.field == target:
            error.field = "target"
        raise
    return arrays["x"], arrays[target]


NPZ = FileFormat(
    name=".npz",
    suffixes=(".npz",),
    summary="the arrays x and y, as numpy.savez writes them",
    read=_read,
    reserves_x=True,
)
