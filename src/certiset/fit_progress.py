"""How far a fit is, in one line of a terminal or a notebook that is written over, and gone in the end."""

import contextlib
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, TextIO, TypeAlias

from certiset.core.errors import OptionError
from certiset.core.resources import Progress
from certiset.service.progress_bar import bar

Report: TypeAlias = Callable[[dict[str, Any]], None]

_PATIENCE = 0.4
"""seconds before anything is shown: most fits are done by then"""
_PAUSE = 0.1
_NOTEBOOK_COLUMNS = 100


@contextlib.contextmanager
def shown(progress: Report | bool | None) -> Iterator[Report | None]:
    """Whom to report to: a bar on standard error where somebody can see it change, nobody, or whoever is given."""
    if progress is not None and not isinstance(progress, bool):
        if not callable(progress):
            raise OptionError("progress must be True, False or a function that takes each report.", field="progress")
        yield progress
        return
    found = None if progress is False else _bar(sys.stderr)
    try:
        yield found
    finally:
        if found is not None:
            found.end()


def _bar(stream: TextIO | None) -> "Bar | None":
    if stream is None:
        return None
    if in_notebook():
        return Bar(stream, terminal=False)
    return Bar(stream, terminal=True) if _is_terminal(stream) else None


def in_notebook() -> bool:
    """Whether a kernel runs this code, and not a terminal."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None and hasattr(module, "get_ipython") else None
    return getattr(shell, "kernel", None) is not None


class Bar:
    """One line that changes. Whatever becomes of the stream, the fit goes on."""

    def __init__(self, stream: TextIO, *, terminal: bool) -> None:
        self._stream, self._terminal = stream, terminal
        self._next = time.monotonic() + _PATIENCE
        self._length = 0

    def __call__(self, report: dict[str, Any]) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _PAUSE
            self._write(bar(Progress.model_validate(report)))

    def end(self) -> None:
        """Leaves an empty line."""
        if self._length:
            self._write("")

    def _write(self, text: str) -> None:
        columns = shutil.get_terminal_size().columns if self._terminal else _NOTEBOOK_COLUMNS
        line = text[: columns - 1]
        # Notebooks know no escape sequences that clear a line.
        cleared = f"\r\x1b[2K{line}" if self._terminal else f"\r{line.ljust(self._length)}" + ("" if line else "\r")
        self._length = len(line)
        with contextlib.suppress(OSError, ValueError):
            self._stream.write(cleared)
            self._stream.flush()


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except (AttributeError, ValueError):
        return False
