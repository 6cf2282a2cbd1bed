"""Files that last as long as a block: uploads on their way, and copies of files that lie elsewhere.

They are the only temporary files of a deployment, in one folder, so that what a killed process left is found again.
"""

import errno
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from certiset.core.errors import StoreFullError

_PREFIX = "upload-"
_ABANDONED_SECONDS = 3600.0


@contextmanager
def scratch_file(folder: Path, content: Iterable[bytes] = ()) -> Iterator[Path]:
    """A file with this content, written piece by piece, for as long as the block lasts."""
    with ExitStack() as held:
        with full_disk_refused():
            folder.mkdir(parents=True, exist_ok=True)
            file = held.enter_context(tempfile.NamedTemporaryFile(dir=folder, prefix=_PREFIX))
            for piece in content:
                file.write(piece)
            file.flush()
        yield Path(file.name)


def remove_abandoned(folder: Path) -> None:
    """What a process left that was killed within such a block."""
    for file in folder.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if time.time() - file.stat().st_mtime > _ABANDONED_SECONDS:
                file.unlink()


@contextmanager
def full_disk_refused() -> Iterator[None]:
    """A disk without space is an error that says so."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StoreFullError("The disk has no space left: free some, then try again.") from None
        raise
