"""File formats of calibration data, one per file, found by suffix.

A format of your own is a `FileFormat` and an entry point in the group ``certiset.formats``. In its ``pyproject.toml``:

    [project.entry-points."certiset.formats"]
    arff = "my_package.arff:ARFF"

It is always read in a process of its own, whatever it says of itself.
"""

from pathlib import Path

from certiset.core.data.formats.base import FileFormat
from certiset.core.errors import FileKindError, SettingsError
from certiset.core.registry import Registry

__all__ = ["FORMATS", "FileFormat", "format_of", "is_sandboxed", "suffix_list", "suffixes"]

FORMATS: Registry[FileFormat] = Registry("file format", __name__, FileFormat, group="certiset.formats")


def format_of(filename: str) -> str:
    """The name of the format that a file's suffix stands for."""
    suffix = Path(filename).suffix.lower()
    known = _by_suffix()
    if suffix not in known:
        raise FileKindError(f"{filename or 'The file'} is not one of {', '.join(known)}.", field="file")
    return known[suffix]


def is_sandboxed(name: str) -> bool:
    """Whether even a user's own file of this format is read in a process of its own; uploads always are."""
    return name not in FORMATS.own or FORMATS[name].sandboxed


def suffixes() -> tuple[str, ...]:
    """All that are accepted, in the order of the registry."""
    return tuple(_by_suffix())


def suffix_list() -> str:
    """The same for a sentence: ".csv, .json, .npz or .parquet"."""
    *others, last = suffixes()
    return f"{', '.join(others)} or {last}"


def _by_suffix() -> dict[str, str]:
    found: dict[str, str] = {}
    for name in FORMATS:
        for suffix in FORMATS[name].suffixes:
            if suffix in found:
                raise SettingsError(
                    f"The file formats {found[suffix]!r} and {name!r} both claim the suffix {suffix}: uninstall one."
                )
            found[suffix] = name
    return found
