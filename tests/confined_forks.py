"""Confined processes, the process for large requests, and those of `certiset up`, forked where they would be started.

Only those that would import PyTorch are worth it, or that may take as much memory as this process has: the limits of
the others would be used up before they begin.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import IO, Any

from certiset.core import confinement, sandbox
from certiset.service import processes
from certiset.service.batches import batch_process
from tests.forks import Forked, Forks

_LEAST_MEMORY = 6 * 2**30
_THAT_FORK = ("certiset", "certiset.worker")
"""modules whose processes start confined ones in their turn"""


def fork_confined(forks: Forks) -> Callable[[], None]:
    """From now on, in this process, until what is returned is called."""
    usual = subprocess.Popen

    def started(command: list[str], **options: Any) -> Any:
        module, *arguments = command[3:] if command[:3] == [sys.executable, "-P", "-m"] else ("", "")
        if module and (module != confinement.__name__ or _has_room(arguments[0])):
            return _forked(forks, [module, *arguments], **options)
        return usual(command, **options)

    def use(module: Any) -> None:
        for place in (sandbox, batch_process, processes):
            place.subprocess = module  # type: ignore[attr-defined]

    use(SimpleNamespace(**{**vars(subprocess), "Popen": started}))
    return lambda: use(subprocess)


def _has_room(specification: str) -> bool:
    memory = json.loads(specification)["memory"]
    return memory is None or memory >= _LEAST_MEMORY


def _forked(
    forks: Forks,
    arguments: list[str],
    *,
    stdin: int | None = None,
    stdout: int | IO[bytes] | None = None,
    stderr: int | IO[bytes] | None = None,
    env: Mapping[str, str] | None = None,
    pass_fds: tuple[int, ...] = (),
    start_new_session: bool = True,
) -> Forked:
    assert start_new_session, "a fork always has a session of its own"
    files, ours = {number: number for number in pass_fds}, {}
    for number, asked in enumerate((stdin, stdout, stderr)):
        if asked == subprocess.PIPE:
            read, write = os.pipe()
            files[number], ours[number] = (read, write) if number == 0 else (write, read)
        elif asked == subprocess.DEVNULL:
            files[number] = os.open(os.devnull, os.O_RDWR)
        else:
            files[number] = os.dup(number if asked is None or isinstance(asked, int) else asked.fileno())
    forking = arguments[0] in _THAT_FORK
    made = forks.start(arguments, os.environ if env is None else env, files, forking=forking)
    for number in range(3):
        os.close(files[number])
    if 0 in ours:
        made.stdin = os.fdopen(ours[0], "wb")
    if 1 in ours:
        made.stdout = os.fdopen(ours[1], "rb")
    return made
