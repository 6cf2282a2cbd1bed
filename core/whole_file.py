"""Files that are written whole or not at all: under a temporary name beside their own, until everything is there."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def written_whole(file: Path, *, replace: bool = True) -> Iterator[IO[bytes]]:
    """What is written in the block becomes the file, of mode 600, if the block ends well; otherwise nothing is left.

    Without ``replace`` a file that somebody else has made in the meantime stays as it is.
    """
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if replace:
            temporary.replace(file)
        else:
            with contextlib.suppress(FileExistsError):
                os.link(temporary, file)
    finally:
        temporary.unlink(missing_ok=True)
