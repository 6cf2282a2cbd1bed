"""Processes that are forked instead of started: one process has imported everything, and whoever asks it gets a copy.

`serve` is the side that forks, `Forks` the side that asks. A fork runs ``python -m MODULE`` with an environment, a
folder and files of its own, and is killed, waited for and looked at like any other process.
"""

import atexit
import contextlib
import fcntl
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from queue import SimpleQueue
from typing import Any

_LONGEST = 2**18
_MOST_FILES = 16
COPY = "forks"
"""what a process is called that forks for another one"""


class Forked:
    """A process as `subprocess.Popen` would show it."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self.stdin: Any = None
        self.stdout: Any = None
        self.stderr: Any = None
        self._ended = threading.Event()

    def ended(self, returncode: int) -> None:
        self.returncode = returncode
        self._ended.set()

    def poll(self) -> int | None:
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if not self._ended.wait(timeout):
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0.0)
        assert self.returncode is not None
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float | None = None) -> tuple[Any, Any]:
        texts: list[Any] = ["", ""]

        def read(place: int, stream: Any) -> None:
            # What was read and closed already is not read again.
            if stream is not None and not stream.closed:
                with stream:
                    texts[place] = stream.read()

        readers = [threading.Thread(target=read, args=pair) for pair in enumerate((self.stdout, self.stderr))]
        for reader in readers:
            reader.start()
        self.wait(timeout)
        for reader in readers:
            reader.join(timeout)
        return texts[0], texts[1]


class Forks:
    """The side that asks. Its thread is started with the first process, and not before."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._running: dict[int, Forked] = {}
        self._starting = threading.Lock()
        self._started: SimpleQueue[Forked] = SimpleQueue()
        self._listening = False

    def start(
        self,
        arguments: list[str],
        env: Mapping[str, str],
        files: Mapping[int, int],
        *,
        cwd: Path | None = None,
        forking: bool = False,
    ) -> Forked:
        """``python -m`` with these arguments; ``files`` are open files, by the number that the process knows them by.

        With ``forking`` the confined processes that it starts are forked in their turn.
        """
        asked = {
            "arguments": arguments,
            "env": dict(env),
            "cwd": str(cwd or Path.cwd()),
            "files": list(files),
            "forking": forking,
        }
        with self._starting:
            if not self._listening:
                self._listening = True
                threading.Thread(target=self._listen, daemon=True).start()
            socket.send_fds(self._channel, [json.dumps(asked).encode()], list(files.values()))
            return self._started.get(timeout=60)

    def _listen(self) -> None:
        while content := self._channel.recv(_LONGEST):
            told = json.loads(content)
            if "started" in told:
                made = self._running[told["started"]] = Forked(told["started"])
                self._started.put(made)
            else:
                self._running.pop(told["ended"]).ended(told["code"])


def serve(channel: socket.socket, begin: Callable[[Forks], object]) -> None:
    """Forks what it is asked for, until nobody asks any more; ``begin`` prepares those that fork in their turn."""
    # SIGCHLD only has to interrupt the waiting: the children are then reaped in the loop.
    waker, sleeper = os.pipe()
    os.set_blocking(sleeper, False)
    signal.set_wakeup_fd(sleeper)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    while True:
        readable, _, _ = select.select([channel.fileno(), waker], [], [])
        if waker in readable:
            os.read(waker, 4096)
            _reap(channel)
        if channel.fileno() in readable:
            content, files, _, _ = socket.recv_fds(channel, _LONGEST, _MOST_FILES, socket.MSG_CMSG_CLOEXEC)
            if not content:
                return
            pid = os.fork()
            if pid == 0:
                for mine in (channel.detach(), waker, sleeper):
                    os.close(mine)
                _become(json.loads(content), files, begin)
            for file in files:
                os.close(file)
            channel.send(json.dumps({"started": pid}).encode())


def _reap(channel: socket.socket) -> None:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not pid:
            return
        with contextlib.suppress(OSError):
            channel.send(json.dumps({"ended": pid, "code": os.waitstatus_to_exitcode(status)}).encode())


def _become(asked: dict[str, Any], files: list[int], begin: Callable[[Forks], object]) -> None:
    """The process that was asked for; does not return."""
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        if asked["forking"]:
            begin(_with_a_copy(files, begin))
        _place(dict(zip(asked["files"], files, strict=True)))
        os.environ.clear()
        os.environ.update(asked["env"])
        os.chdir(asked["cwd"])
        module, *arguments = asked["arguments"]
        sys.argv = [module, *arguments]
        sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115
        _be_called((arguments[-1] if module == "certiset.core.confinement" else module).rpartition(".")[2])
        _use_threads()
        # What was imported already is run all the same.
        warnings.filterwarnings("ignore", module="runpy")
        runpy.run_module(module, run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        if isinstance(ended.code, str):
            print(ended.code, file=sys.stderr)
    except KeyboardInterrupt:
        code = 130
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        # Threads of a process that was asked to end are not waited for any longer than Python itself would.
        with contextlib.suppress(BaseException):
            threading._shutdown()  # type: ignore[attr-defined]
            atexit._run_exitfuncs()
        os._exit(code)


def _with_a_copy(files: list[int], begin: Callable[[Forks], object]) -> Forks:
    """A copy of this process that forks for it, made now: later it will have threads, and locks that they hold."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if os.fork():
        theirs.close()
        return Forks(ours)
    ours.close()
    os.setsid()
    _be_called(COPY)
    for file in files:
        os.close(file)
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nothing, number)
    with contextlib.suppress(BaseException):
        serve(theirs, begin)
    os._exit(0)


def _be_called(name: str) -> None:
    """In lists of processes, where a fork would have the name of the one that it was forked from."""
    with contextlib.suppress(OSError):
        Path("/proc/self/comm").write_text(name)


def _use_threads() -> None:
    """As many as the environment says, which PyTorch has read when it was imported."""
    threads = os.environ.get("OMP_NUM_THREADS")
    if threads and "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(int(threads))


def _place(files: Mapping[int, int]) -> None:
    """Gives open files the numbers by which the process knows them, and standard input to those that have none."""
    # None of them may stand where another one belongs.
    clear = max((*files, 2)) + 1
    apart = {number: fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, clear) for number, file in files.items()}
    for file in {*files.values()}:
        os.close(file)
    if 0 not in apart:
        apart[0] = os.open(os.devnull, os.O_RDONLY)
    for number, file in apart.items():
        os.dup2(file, number, inheritable=number <= 2)
        os.close(file)
