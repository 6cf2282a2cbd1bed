"""Files with keys: made whole and for their owner alone, and refused if others may read them."""

import os
import stat
from pathlib import Path

from certiset.core.errors import SettingsError
from certiset.core.whole_file import written_whole

_OTHERS = 0o077
_OTHERS_OF_A_MOUNT = 0o037


def read_private(file: Path, what: str) -> bytes:
    """The content of a file that others may not read; ``what`` it is called if it cannot be read.

    A file that belongs to somebody else is one that a container was given, which is read through its group.
    """
    try:
        found = file.stat()
        allowed = _OTHERS if found.st_uid == os.geteuid() else _OTHERS_OF_A_MOUNT
        if stat.S_IMODE(found.st_mode) & allowed:
            raise SettingsError(f"{file} can be read by others: chmod {'600' if allowed == _OTHERS else '440'} it.")
        return file.read_bytes()
    except OSError as error:
        raise SettingsError(f"{what} {file} cannot be read: {error.strerror}.") from None


def create_private(file: Path, content: bytes) -> None:
    """Writes a file of mode 600, whole or not at all; does nothing if somebody was quicker."""
    with written_whole(file, replace=False) as stream:
        stream.write(content)
