"""Small disks, for tests that fill one up."""

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.servers import missing


@contextlib.contextmanager
def small_disk(folder: Path, mebibytes: int = 1) -> Iterator[Path]:
    """A folder that is a disk of its own."""
    disk = folder / "small"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={mebibytes}m", "tmpfs", str(disk)]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        missing("A tmpfs cannot be mounted without being root.")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def fill(file: Path) -> None:
    """Until there is no space left."""
    with file.open("wb", buffering=0) as stream, contextlib.suppress(OSError):
        while True:
            stream.write(bytes(1024))
