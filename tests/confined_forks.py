"""Confined processes and the process for large requests, forked where they would be started.

Only those that would import PyTorch are worth it, or that may take as much memory as this process has: the limits of
the others would be used up before they begin.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from certiset.core import confinement, sandbox
from certiset.service.batches import batch_process
from tests.forks import Forked, Forks

_LEAST_MEMORY = 6 * 2**30


def fork_confined(forks: Forks) -> Callable[[], None]:
    """From now on, in this process, until what is returned is called."""
    usual = subprocess.Popen

    def started(command: list[str], **options: Any) -> Any:
        module, *arguments = command[3:] if command[:3] == [sys.executable, "-P", "-m"] else ("", "")
        if module and (module != confinement.__name__ or _has_room(arguments[0])):
            return _forked(forks, [module, *arguments], **options)
        return usual(command, **options)

    def use(module: Any) -> None:
        for place in (sandbox, batch_process):
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
    stdout: int | None = None,
    stderr: int | None = None,
    env: dict[str, str] | None = None,
    pass_fds: tuple[int, ...] = (),
    start_new_session: bool = True,
) -> Forked:
    assert start_new_session, "a fork always has a session of its own"
    files, ours = {number: number for number in pass_fds}, {}
    for number, asked in enumerate((stdin, stdout, stderr)):
        if asked == subprocess.PIPE:
            read, write = os.pipe()
            files[number], ours[number] = (read, write) if number == 0 else (write, read)
        else:
            files[number] = os.open(os.devnull, os.O_RDWR) if asked == subprocess.DEVNULL else os.dup(number)
    made = forks.start(arguments, dict(os.environ) if env is None else env, files)
    for number in range(3):
        os.close(files[number])
    if 0 in ours:
        made.stdin = os.fdopen(ours[0], "wb")
    if 1 in ours:
        made.stdout = os.fdopen(ours[1], "rb")
    return made
