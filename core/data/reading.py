"""`read_dataset`: from a file to checked arrays, in this process or in a sandbox, as the file's format asks."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from certiset.core import sandbox
from certiset.core.data.arrays import as_numbers
from certiset.core.data.dataset import DatasetArrays
from certiset.core.data.formats import FORMATS, format_of, is_sandboxed
from certiset.core.data.limits import MORE_MEMORY, Limits
from certiset.core.errors import DataError

_SECONDS = 300.0
_CPU_SECONDS = 600
_ROOM = 4 * 2**30
"""bytes for the reader itself, beside three copies of what is read"""


def read_dataset(file: Path, filename: str, target: str = "y", limits: Limits | None = None) -> DatasetArrays:
    """The arrays of a file, read as what its name says.

    ``target`` names the column of y, or several, with commas; .npz files hold arrays x and y (or of that name).
    """
    name = format_of(filename)
    if not target.strip() or (target == "x" and FORMATS[name].reserves_x):
        raise DataError("target must name the column or array of y.", field="target")
    read = _read_in_sandbox if is_sandboxed(name) else read_arrays_of
    try:
        x, y = read(name, file, target, limits or Limits())
        return DatasetArrays.checked(x, y)
    except MemoryError:
        raise DataError(MORE_MEMORY) from None


def read_arrays_of(name: str, file: Path, target: str, limits: Limits) -> tuple[NDArray[Any], NDArray[Any]]:
    """What a format's reader finds in a file, read in this process."""
    x, y = FORMATS[name].read(file, target, limits)
    x, y = as_numbers("x", x), as_numbers("y", y)
    limits.check_unpacked(x.nbytes + y.nbytes)
    return x, y


def read_for_sandbox(name: str, file: str, target: str, limits: dict[str, int]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The same with arguments that JSON can carry; this runs in the sandbox."""
    try:
        return read_arrays_of(name, Path(file), target, Limits(**limits))
    except MemoryError:
        raise DataError(MORE_MEMORY) from None


def _read_in_sandbox(name: str, file: Path, target: str, limits: Limits) -> tuple[NDArray[Any], NDArray[Any]]:
    try:
        x, y = sandbox.call(
            f"{__name__}:{read_for_sandbox.__name__}",
            {"name": name, "file": str(file.absolute()), "target": target, "limits": asdict(limits)},
            limits=sandbox.ResourceLimits(memory=_ROOM + 3 * limits.unpacked_bytes, cpu_seconds=_CPU_SECONDS),
            seconds=_SECONDS,
        ).arrays
    except sandbox.SandboxError as error:
        raise DataError(
            f"The file is not a whole {FORMATS[name].name} file, or asks for too much memory or time: "
            "reading it failed."
        ) from error
    return x, y
