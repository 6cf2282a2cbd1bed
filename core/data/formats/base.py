"""What every file format knows: its suffixes, a description, and how a file becomes rows."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from numpy.typing import NDArray

from certiset.core.class_names import NamedTruths
from certiset.core.data.frame import Frame
from certiset.core.data.limits import Limits

Reader: TypeAlias = Callable[[Path, str | None, Limits], tuple[NDArray[Any] | Frame, NDArray[Any] | NamedTruths | None]]


@dataclass(frozen=True)
class FileFormat:
    """``read(file, target, limits)`` gives x and y, (rows, ...) each, or raises a `DataError` with the place of a flaw.

    Of a table, x is a `Frame`: its columns have names, some may hold text, and numbers may be missing.

    A target that the file lacks is a `DataError` whose field is ``target``. Without a target, all that the file holds
    is x, and there is no y.

    It never trusts the file: sizes are held against the limits before anything is unpacked, and nothing is unpickled.
    What it returns is checked by `certiset.core.data.arrays`, as all arrays are.
    """

    name: str
    """what messages call such a file, such as Parquet"""
    suffixes: tuple[str, ...]
    """lower case, with the dot"""
    summary: str
    """what such a file holds, for the documentation"""
    read: Reader
    sandboxed: bool = False
    """whether even a user's own file is read in a process of its own, since a damaged one would end the user's"""
    reserves_x: bool = False
    """whether the name x always means the inputs, so that no target can have it"""

    @property
    def kind(self) -> str:
        """Its name in the registry: the first suffix, without the dot."""
        return self.suffixes[0].removeprefix(".")
