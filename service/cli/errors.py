"""What a command raises when the user can fix it."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from certiset.core.errors import CertisetError

BAD_INPUT = 2
NO_SERVER = 3
INTERRUPTED = 130
UNHEARD = 141
"""as a shell counts it if whoever reads the output goes away"""


class CommandError(CertisetError):
    """A sentence for the user; the command line prints it and exits with the code."""

    code = "command_failed"

    def __init__(self, sentence: str, exit_code: int = BAD_INPUT) -> None:
        super().__init__(sentence)
        self.exit_code = exit_code


@contextlib.contextmanager
def written_to(file: Path) -> Iterator[None]:
    """For a block that writes the file that the user named."""
    try:
        yield
    except CertisetError:
        # A server that cannot be reached is an OSError as well, and none of the file's.
        raise
    except OSError as error:
        raise CommandError(f"{file} cannot be written: {error.strerror or error}.") from None


@contextlib.contextmanager
def read_from(file: Path | None = None) -> Iterator[None]:
    """For a block that reads the file that the user named, or several, of which the error says which one."""
    try:
        yield
    except OSError as error:
        found = file or error.filename
        if found is None:
            raise
        raise CommandError(f"{found} cannot be read: {error.strerror}.") from None
