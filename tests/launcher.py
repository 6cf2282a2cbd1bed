"""Starts certiset's processes for tests, as real ones, without importing PyTorch again for each.

Importing takes seconds of CPU, and a suite starts hundreds of processes. Here one process imports everything once and
then forks: before it has started any thread, and before it has read a setting. What a fork starts in its turn, to fit
or to read what a stranger has sent, is forked as well, by a copy that was made before the fork had any thread. Tests
about starting itself (installed packages, containers, `certiset up`, broken kinds) start theirs in the ordinary way.
"""

import gc
import io
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from tests.forks import Forked, Forks, serve

_MODULES = (
    "certiset.core.fit.fitting",
    "certiset.core.jobs.fit_results",
    "certiset.core.jobs.model_conversion",
    "certiset.service.http.app",
    "certiset.service.http.connections",
    "certiset.service.cli.calibrate",
    "certiset.service.cli.main",
    "certiset.service.client.client",
    "certiset.worker.run",
    "certiset.worker.celery_app",
    "uvicorn.loops.auto",
    "uvicorn.protocols.http.auto",
    "uvicorn.lifespan.on",
)
_READY = b"ready"


class Launcher:
    """One for each process of the test suite, started when it is first needed."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", __name__, str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            start_new_session=True,
        )
        theirs.close()
        assert ours.recv(len(_READY)) == _READY, "the launcher did not start"
        self.forks = Forks(ours)

    def start(
        self,
        *arguments: str,
        env: Mapping[str, str],
        cwd: Path | None = None,
        stdout: int | IO[Any] | None = None,
        stderr: int | IO[Any] | None = None,
        forking: bool = False,
    ) -> Forked:
        """``python -m`` with these arguments; streams as for `subprocess.Popen`, of text."""
        out, read_out = _stream(stdout, sys.__stdout__)
        err, read_err = (out, None) if stderr == subprocess.STDOUT else _stream(stderr, sys.__stderr__)
        made = self.forks.start(list(arguments), env, {1: out, 2: err}, cwd=cwd, forking=forking)
        made.stdout, made.stderr = read_out, read_err
        for mine in {out, err}:
            os.close(mine)
        return made


def _stream(asked: int | IO[Any] | None, usual: IO[Any] | None) -> tuple[int, IO[str] | None]:
    """A descriptor for the process, and for a pipe its other end as text."""
    if asked == subprocess.PIPE:
        read, write = os.pipe()
        return write, io.TextIOWrapper(os.fdopen(read, "rb"))
    if asked == subprocess.DEVNULL:
        return os.open(os.devnull, os.O_WRONLY), None
    chosen = usual if asked is None else asked
    assert chosen is not None
    return os.dup(chosen if isinstance(chosen, int) else chosen.fileno()), None


_launcher: Launcher | None = None


def launcher() -> Launcher:
    """The one of this process."""
    global _launcher  # noqa: PLW0603
    if _launcher is None:
        _launcher = Launcher()
    return _launcher


def launch(*arguments: str, **options: Any) -> Forked:
    """``python -m ARGUMENTS``, forked."""
    return launcher().start(*arguments, **options)


@contextmanager
def confined_by_forking() -> Iterator[None]:
    """The confined processes that this process starts are forked, too, while the block lasts."""
    from tests.confined_forks import fork_confined  # noqa: PLC0415 (imports the service)

    undo = fork_confined(launcher().forks)
    try:
        yield
    finally:
        undo()


def main() -> None:
    """The launcher's own process; it ends with the one that started it, and its forks then go on by themselves."""
    from tests.confined_forks import fork_confined  # noqa: PLC0415 (imports PyTorch)

    channel = socket.socket(fileno=int(sys.argv[1]))
    for module in _MODULES:
        __import__(module)
    # What is loaded stays, and is not looked at again: a page that nobody touches is not copied for a fork.
    gc.collect()
    gc.freeze()
    channel.send(_READY)
    serve(channel, fork_confined)


if __name__ == "__main__":
    main()
