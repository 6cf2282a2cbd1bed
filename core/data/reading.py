"""From a file to checked rows: a stranger's in a sandbox, a user's own there only if its format asks for it."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from certiset.core import sandbox
from certiset.core.class_names import NamedTruths
from certiset.core.confinement import Confinement
from certiset.core.data.arrays import as_numbers
from certiset.core.data.dataset import (
    DatasetArrays,
    YKind,
    frame_tensors,
    tensors_frame,
    tensors_truths,
    truth_tensors,
)
from certiset.core.data.formats import FORMATS, format_of, is_sandboxed
from certiset.core.data.frame import Frame, TextColumn, as_frame
from certiset.core.data.limits import MORE_MEMORY, Limits
from certiset.core.errors import DataError

_SECONDS = 300.0
_CPU_SECONDS = 600
_ROOM = 4 * 2**30
"""bytes for the reader itself, beside three copies of what is read"""
_HEADER = 2**24
"""bytes of a stored file beside its arrays"""

Found: TypeAlias = tuple[Frame, NDArray[Any] | NamedTruths | None]
"""x and y; y only where a target was asked for"""


def read_dataset(file: Path, filename: str, target: str | None = "y", limits: Limits | None = None) -> DatasetArrays:
    """The arrays of a file, read as what its name says.

    ``target`` names the column of y, or several, with commas; .npz files hold arrays x and y (or of that name). With
    None all of the file are inputs without truths.
    """
    name = checked_format(filename, target)
    frame, y = _read(name, file, target, limits or Limits())
    return DatasetArrays.checked(frame, y)


@dataclass(frozen=True)
class ConvertedDataset:
    rows: int
    x_shape: list[int]
    y_kind: YKind


def convert_dataset(file: Path, filename: str, target: str | None, limits: Limits, output: Path) -> ConvertedDataset:
    """Writes a stranger's file to ``output`` as checked arrays, the way datasets are stored, all of it confined."""
    name = checked_format(filename, target)
    arguments = {"name": name, "file": str(file.absolute()), "target": target, "output": str(output.absolute())}
    found = _call(write_for_sandbox.__name__, arguments, limits, writable=(str(output.absolute()),)).value
    return ConvertedDataset(**found)


def read_inputs(
    file: Path, target: str = "y", limits: Limits | None = None, columns: Sequence[str] | None = None
) -> NDArray[Any]:
    """The inputs of a file, (rows, ...), read as what its name says; the target is left out if it is there.

    Of a table with ``columns`` these, in this order; without, all columns of numbers.
    """
    return as_numbers("x", read_frame(file, target, limits).inputs(columns, ())[0])


def read_frame(file: Path, target: str = "y", limits: Limits | None = None) -> Frame:
    """A file with all its columns, but for the target if it is there."""
    name = format_of(file.name)
    try:
        frame, _ = _read(name, file, target, limits or Limits())
    except DataError as error:
        if error.field != "target":
            raise
        frame, _ = _read(name, file, None, limits or Limits())
    return frame


def checked_format(filename: str, target: str | None) -> str:
    """The name of the file's format, in which this can be a target."""
    name = format_of(filename)
    if target is None:
        return name
    if not target.strip() or (target == "x" and FORMATS[name].reserves_x):
        raise DataError("target must name the column or array of y.", field="target")
    return name


def read_rows_of(name: str, file: Path, target: str | None, limits: Limits) -> Found:
    """x, and y if there is a target: what a format's reader finds in a file, read in this process."""
    x, y = FORMATS[name].read(file, target, limits)
    frame = as_frame(x)
    frame = replace(frame, x=as_numbers("x", frame.x))
    truths = y if y is None or isinstance(y, NamedTruths) else as_numbers("y", y)
    numbers = truths.codes if isinstance(truths, NamedTruths) else truths
    arrays = [np.asarray(frame.x), *(column for column in frame.further.values() if not isinstance(column, TextColumn))]
    limits.check_unpacked(sum(array.nbytes for array in arrays) + (0 if numbers is None else numbers.nbytes))
    return frame, truths


def read_for_sandbox(name: str, file: str, target: str | None, limits: dict[str, int]) -> tuple[NDArray[Any], ...]:
    """The same with arguments that JSON can carry, as arrays behind one with their names; this runs in the sandbox."""
    try:
        frame, y = read_rows_of(name, Path(file), target, Limits(**limits))
        tensors = {**frame_tensors(frame), **truth_tensors(y)}
        return (np.frombuffer(json.dumps(list(tensors)).encode(), dtype=np.uint8), *tensors.values())
    except MemoryError:
        raise DataError(MORE_MEMORY) from None


def write_for_sandbox(name: str, file: str, target: str | None, output: str, limits: dict[str, int]) -> dict[str, Any]:
    """This runs in the sandbox."""
    try:
        frame, y = read_rows_of(name, Path(file), target, Limits(**limits))
        arrays = DatasetArrays.checked(frame, y)
        Path(output).write_bytes(arrays.to_bytes())
    except MemoryError:
        raise DataError(MORE_MEMORY) from None
    return {"rows": len(arrays.x), "x_shape": list(arrays.x.shape[1:]), "y_kind": arrays.y_kind}


def _read(name: str, file: Path, target: str | None, limits: Limits) -> Found:
    try:
        read = _read_in_sandbox if is_sandboxed(name) else read_rows_of
        return read(name, file, target, limits)
    except MemoryError:
        raise DataError(MORE_MEMORY) from None


def _read_in_sandbox(name: str, file: Path, target: str | None, limits: Limits) -> Found:
    arguments = {"name": name, "file": str(file.absolute()), "target": target}
    names, *arrays = _call(read_for_sandbox.__name__, arguments, limits).arrays
    tensors = dict(zip(json.loads(names.tobytes()), arrays, strict=True))
    try:
        return tensors_frame(tensors), tensors_truths(tensors)
    except (KeyError, ValueError, TypeError, IndexError):
        # The process may have been taken over: what it says need not make sense.
        raise DataError("The file cannot be read.") from None


def _call(function: str, arguments: dict[str, Any], limits: Limits, writable: tuple[str, ...] = ()) -> sandbox.Returned:
    confinement = Confinement(
        memory=_ROOM + 3 * limits.unpacked_bytes,
        cpu_seconds=_CPU_SECONDS,
        largest_file=limits.unpacked_bytes + _HEADER,
        niceness=5,
        readable=(arguments["file"],),
        writable=writable,
    )
    try:
        return sandbox.call(
            f"{__name__}:{function}",
            {**arguments, "limits": asdict(limits)},
            confinement=confinement,
            seconds=_SECONDS,
        )
    except sandbox.SandboxError as error:
        raise DataError(
            f"The file is not a whole {FORMATS[arguments['name']].name} file, or asks for too much memory or time: "
            "reading it failed."
        ) from error
