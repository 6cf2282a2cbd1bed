"""NumPy's .npz: a zip of arrays. Headers are read and checked before any content is."""

import functools
import io
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from certiset.core.class_names import NamedTruths
from certiset.core.data.arrays import check_dtype
from certiset.core.data.formats.base import FileFormat
from certiset.core.data.frame import COLUMN_NAMES, Column, Frame, TextColumn, as_column, check_distinct
from certiset.core.data.limits import Limits
from certiset.core.errors import DataError

_HEADER = 10_000
_MOST_FURTHER = 1000
_STORED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENTRY = b"PK\x01\x02"
"""begins what a zip's directory says of a file in it"""
_MOST_ENTRIES = 1000

HeaderCheck: TypeAlias = Callable[[tuple[int, ...], "np.dtype[Any]"], None]
"""refuses an array by what its header says, before its content is read"""


def read_arrays(
    source: Path | bytes,
    names: list[str],
    limits: Limits,
    *,
    optional: Mapping[str, HeaderCheck] = MappingProxyType({}),
) -> dict[str, NDArray[Any]]:
    """The arrays of these names, of a file or its content; all of them hold numbers.

    Those that are ``optional`` hold what their own checks allow.
    """
    # A directory of empty files takes many times its own size in memory. Files are read where memory is limited.
    if isinstance(source, bytes) and source.count(_ENTRY) > _MOST_ENTRIES:
        raise DataError(f"An .npz body may hold at most {_MOST_ENTRIES:,} arrays.")
    try:
        with zipfile.ZipFile(io.BytesIO(source) if isinstance(source, bytes) else source) as archive:
            present = {entry.filename.removesuffix(".npy") for entry in archive.infolist()}
            wanted = [*names, *(name for name in optional if name in present)]
            entries = {name: _entry(archive, name) for name in wanted}
            limits.check_unpacked(sum(entry.file_size for entry in entries.values()))
            return {name: _array(archive, entry, name, limits, optional.get(name)) for name, entry in entries.items()}
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


def _array(
    archive: zipfile.ZipFile, entry: zipfile.ZipInfo, name: str, limits: Limits, check: HeaderCheck | None
) -> NDArray[Any]:
    shape, dtype = _described(archive, entry, name)
    if dtype.hasobject:
        raise DataError(f"The array {name} holds Python objects, which are never unpickled here.", field=name)
    if not dtype.itemsize:
        # As many as their header claims would be in no bytes at all, and take memory as soon as they are looked at.
        raise DataError(f"The array {name} holds entries of no size.", field=name)
    if check is None:
        check_dtype(name, dtype, f"The array {name}")
    else:
        check(shape, dtype)
    return _content(archive, entry, name, shape, dtype, limits)


def _described(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, name: str) -> tuple[tuple[int, ...], "np.dtype[Any]"]:
    with archive.open(entry) as stream:
        try:
            version = npy.read_magic(stream)
            shape, _, dtype = (npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0)(
                stream, max_header_size=_HEADER
            )
        except Exception as error:
            # NumPy parses headers with Python's own parser, which has many ways to say no.
            raise DataError(f"The array {name} has a header that NumPy cannot read: {_first(error)}.") from None
    return shape, dtype


def _content(
    archive: zipfile.ZipFile,
    entry: zipfile.ZipInfo,
    name: str,
    shape: tuple[int, ...],
    dtype: "np.dtype[Any]",
    limits: Limits,
) -> NDArray[Any]:
    size = int(np.prod([int(side) for side in shape], dtype=object)) * dtype.itemsize
    if any(side < 0 for side in shape) or size > entry.file_size:
        raise DataError(f"The array {name} claims the shape {shape}, for which the file holds too little.")
    limits.check_unpacked(size)
    with archive.open(entry) as stream:
        try:
            return npy.read_array(stream, allow_pickle=False, max_header_size=_HEADER)
        except ValueError as error:
            raise DataError(f"The array {name} cannot be read: {_first(error)}.") from None


def _further(file: Path, taken: set[str], rows: int, limits: Limits) -> dict[str, Column]:
    """Other arrays of one number or text per row; what else such a file may hold is left alone."""
    found: dict[str, Column] = {}
    with zipfile.ZipFile(file) as archive:
        entries = [entry for entry in archive.infolist() if entry.filename.endswith(".npy")]
        for entry in entries[:_MOST_FURTHER]:
            name = entry.filename.removesuffix(".npy")
            if name in taken or name in found or entry.compress_type not in _STORED or entry.flag_bits & 1:
                continue
            try:
                shape, dtype = _described(archive, entry, name)
            except DataError:
                continue
            if shape == (rows,) and dtype.kind in "biufUS":
                array = _content(archive, entry, name, shape, dtype, limits)
                # As in other formats, a text that is empty is missing.
                texts = [cell or None for cell in _as_texts(array, name)] if dtype.kind in "US" else None
                found[name] = as_column(array) if texts is None else TextColumn.of(texts)
    return found


def _first(error: Exception) -> str:
    return str(error).split("\n", maxsplit=1)[0].rstrip(".")[:200]


def _read(file: Path, target: str | None, limits: Limits) -> tuple[Frame, NDArray[Any] | NamedTruths | None]:
    wanted = ["x"] if target is None else ["x", target]
    optional: dict[str, HeaderCheck] = {} if target == COLUMN_NAMES else {COLUMN_NAMES: _check_names}
    if target is not None:
        optional[target] = functools.partial(_check_truths, target)
    try:
        arrays = read_arrays(file, wanted, limits, optional=optional)
    except DataError as error:
        if error.field == target:
            error.field = "target"
        raise
    x, y = arrays["x"], arrays[target] if target is not None else None
    further = _further(file, {*wanted, COLUMN_NAMES}, len(x), limits) if x.ndim else {}
    named = arrays.get(COLUMN_NAMES) if COLUMN_NAMES in optional and target != COLUMN_NAMES else None
    frame = Frame(x, None if named is None else _names(named, x, further), further)
    if y is None or target is None or y.dtype.kind != "U":
        return frame, y
    texts = TextColumn.of(_as_texts(y, target))
    return frame, NamedTruths(texts.codes.astype(np.int64), tuple(texts.values))


def _check_truths(target: str, shape: tuple[int, ...], dtype: "np.dtype[Any]") -> None:
    """Numbers, or one name per row."""
    if dtype.kind != "U" or len(shape) != 1:
        check_dtype(target, dtype, f"The array {target}")


def _check_names(shape: tuple[int, ...], dtype: "np.dtype[Any]") -> None:
    if dtype.kind != "U" or len(shape) != 1:
        raise DataError(f"The array {COLUMN_NAMES} must hold one text for each column of x.")


def _names(named: NDArray[Any], x: NDArray[Any], further: Mapping[str, Column]) -> list[str]:
    if x.ndim != 2 or len(named) != x.shape[1]:
        raise DataError(f"The array {COLUMN_NAMES} names {len(named)} columns, and x has the shape {x.shape}.")
    names = _as_texts(named, COLUMN_NAMES)
    check_distinct([*names, *further])
    return names


def _as_texts(array: NDArray[Any], name: str) -> list[str]:
    try:
        found: list[str] = [cell.decode() if isinstance(cell, bytes) else cell for cell in array.tolist()]
    except (ValueError, SystemError):
        # NumPy's letters may be no letters of Unicode, and bytes no UTF-8.
        raise DataError(f"The array {name} holds something that is not text.") from None
    return found


NPZ = FileFormat(
    name=".npz",
    suffixes=(".npz",),
    summary="the arrays x and y, as numpy.savez writes them, and further ones with one entry for each row; an array "
    "column_names names the columns of x",
    read=_read,
    reserves_x=True,
)
