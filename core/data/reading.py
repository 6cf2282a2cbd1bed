"""From a file to checked arrays, in this process or in a sandbox, as the file's format asks."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from certiset.core import sandbox
from certiset.core.confinement import Confinement
from certiset.core.data.arrays import as_numbers
from certiset.core.data.dataset import DatasetArrays, YKind
from certiset.core.data.formats import FORMATS, format_of, is_sandboxed
from certiset.core.data.limits import MORE_MEMORY, Limits
from certiset.core.errors import DataError

_SECONDS = 300.0
_CPU_SECONDS = 600
_ROOM = 4 * 2**30
"""bytes for the reader itself, beside three copies of what is read"""
_HEADER = 2**20
"""bytes of a stored file beside its arrays"""


def read_dataset(file: Path, filename: str, target: str = "y", limits: Limits | None = None) -> DatasetArrays:
    """The arrays of a file, read as what its name says.

    ``target`` names the column of y, or several, with commas; .npz files hold arrays x and y (or of that name).
    """
    name = checked_format(filename, target)
    x, y = _read(name, file, target, limits or Limits())
    return DatasetArrays.checked(x, y)


@dataclass(frozen=True)
class ConvertedDataset:
    rows: int
    x_shape: list[int]
    y_kind: YKind


def convert_dataset(file: Path, filename: str, target: str, limits: Limits, output: Path) -> ConvertedDataset:
    """Writes a stranger's file to ``output`` as checked arrays, the way datasets are stored, all of it confined."""
    name = checked_format(filename, target)
    arguments = {"name": name, "file": str(file.absolute()), "target": target, "output": str(output.absolute())}
    found = _call(write_for_sandbox.__name__, arguments, limits, writable=(str(output.absolute()),)).value
    return ConvertedDataset(**found)


def read_inputs(file: Path, target: str = "y", limits: Limits | None = None) -> NDArray[Any]:
    """The inputs of a file, (rows, ...), read as what its name says; the target is left out if it is there."""
    name = format_of(file.name)
    try:
        x, *_ = _read(name, file, target, limits or Limits())
    except DataError as error:
        if error.field != "target":
            raise
        x, *_ = _read(name, file, None, limits or Limits())
    return x


def checked_format(filename: str, target: str) -> str:
    """The name of the file's format, in which this can be a target."""
    name = format_of(filename)
    if not target.strip() or (target == "x" and FORMATS[name].reserves_x):
        raise DataError("target must name the column or array of y.", field="target")
    return name


def read_arrays_of(name: str, file: Path, target: str | None, limits: Limits) -> tuple[NDArray[Any], ...]:
    """x, and y if there is a target: what a format's reader finds in a file, read in this process."""
    found = FORMATS[name].read(file, target, limits)
    arrays = tuple(as_numbers(role, array) for role, array in zip("xy", found, strict=True) if array is not None)
    limits.check_unpacked(sum(array.nbytes for array in arrays))
    return arrays


def read_for_sandbox(name: str, file: str, target: str | None, limits: dict[str, int]) -> tuple[NDArray[Any], ...]:
    """The same with arguments that JSON can carry; this runs in the sandbox."""
    try:
        return read_arrays_of(name, Path(file), target, Limits(**limits))
    except MemoryError:
        raise DataError(MORE_MEMORY) from None


def write_for_sandbox(name: str, file: str, target: str, output: str, limits: dict[str, int]) -> dict[str, Any]:
    """This runs in the sandbox."""
    try:
        arrays = DatasetArrays.checked(*read_arrays_of(name, Path(file), target, Limits(**limits)))
        Path(output).write_bytes(arrays.to_bytes())
    except MemoryError:
        raise DataError(MORE_MEMORY) from None
    return {"rows": len(arrays.x), "x_shape": list(arrays.x.shape[1:]), "y_kind": arrays.y_kind}


def _read(name: str, file: Path, target: str | None, limits: Limits) -> tuple[NDArray[Any], ...]:
    try:
        read = _read_in_sandbox if is_sandboxed(name, file.stat().st_size) else read_arrays_of
        return read(name, file, target, limits)
    except MemoryError:
        raise DataError(MORE_MEMORY) from None


def _read_in_sandbox(name: str, file: Path, target: str | None, limits: Limits) -> tuple[NDArray[Any], ...]:
    arguments = {"name": name, "file": str(file.absolute()), "target": target}
    return tuple(_call(read_for_sandbox.__name__, arguments, limits).arrays)


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
