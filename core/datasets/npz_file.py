"""NumPy's .npz: a zip of arrays. Headers are read and judged before any content is."""

import zipfile
import zlib
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from core.datasets.arrays import DatasetArrays
from core.datasets.limits import Limits
from core.errors import DataError

_HEADER = 10_000
_STORED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def read_npz(file: Path, target: str, limits: Limits) -> DatasetArrays:
    arrays = read_arrays(file, ["x", target], limits)
    return DatasetArrays.checked(arrays["x"], arrays[target])


def read_arrays(
    source: Path | BinaryIO, names: list[str], limits: Limits, optional: tuple[str, ...] = ()
) -> dict[str, NDArray[Any]]:
    """The arrays of these names; those that are optional may be missing."""
    try:
        with zipfile.ZipFile(source) as archive:
            present = {entry.filename.removesuffix(".npy") for entry in archive.infolist()}
            wanted = [*names, *(name for name in optional if name in present)]
            entries = {name: _entry(archive, name) for name in wanted}
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
        raise DataError(f"The .npz file {problem} named {name}; it holds {present or 'nothing'}.")
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
    if dtype.kind not in "biuf":
        what = "Python objects, which are never unpickled here" if dtype.hasobject else str(dtype)
        raise DataError(f"The array {name} must hold numbers, not {what}.")
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
