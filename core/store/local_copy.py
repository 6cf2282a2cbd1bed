"""Stored files as files of this machine, for whoever maps them into memory."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from certiset.core.scratch import scratch_file
from certiset.core.store.artifacts import Artifacts


@contextmanager
def local_copy(artifacts: Artifacts, name: str, folder: Path) -> Iterator[Path]:
    """The checked content of that name: a copy in the folder, while the block lasts, if the store is elsewhere.

    However large it is, it is never in memory as a whole.
    """
    file = artifacts.local_file(name)
    if file is not None:
        yield file
        return
    with scratch_file(folder, artifacts.pieces(name)) as copied:
        yield copied
