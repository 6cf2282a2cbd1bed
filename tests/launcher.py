"""Starts certiset's processes for tests, as real ones, without importing PyTorch again for each.

Importing takes seconds of CPU, and a suite starts a hundred processes. Here one process imports everything once and
then forks: before it has started any thread, and before it has read a setting. A fork runs ``python -m MODULE`` with an
environment, a folder and files of its own, and is killed, waited for and looked at like any other process. Tests about
starting itself (installed packages, containers, `certiset up`, broken kinds) start theirs in the ordinary way.
"""

import atexit
import contextlib
import io
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
from collections.abc import Mapping
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any

_MODULES = (
    "certiset.service.http.app",
    "certiset.service.http.connections",
    "certiset.service.cli.main",
    "certiset.worker.run",
    "certiset.worker.celery_app",
    "uvicorn.loops.auto",
    "uvicorn.protocols.http.auto",
    "uvicorn.lifespan.on",
)
_LONGEST = 2**18


class Forked:
    """A process as `subprocess.Popen` would show it."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self.stdout: IO[str] | None = None
        self.stderr: IO[str] | None = None
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

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        texts = ["", ""]

        def read(place: int, stream: IO[str] | None) -> None:
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


class Launcher:
    """One for each process of the test suite, started when it is first needed."""

    def __init__(self) -> None:
        self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", __name__, str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            start_new_session=True,
        )
        theirs.close()
        self._running: dict[int, Forked] = {}
        self._starting = threading.Lock()
        self._started: SimpleQueue[Forked] = SimpleQueue()
        assert self._ours.recv(_LONGEST) == b"ready", "the launcher did not start"
        threading.Thread(target=self._listen, daemon=True).start()

    def start(
        self,
        *arguments: str,
        env: Mapping[str, str],
        cwd: Path | None = None,
        stdout: int | IO[Any] | None = None,
        stderr: int | IO[Any] | None = None,
    ) -> Forked:
        """``python -m`` with these arguments; streams as for `subprocess.Popen`."""
        out, read_out = _stream(stdout, sys.__stdout__)
        err, read_err = (out, None) if stderr == subprocess.STDOUT else _stream(stderr, sys.__stderr__)
        asked = {"arguments": arguments, "env": dict(env), "cwd": str(cwd or Path.cwd())}
        with self._starting:
            socket.send_fds(self._ours, [json.dumps(asked).encode()], [out, err])
            made = self._started.get(timeout=60)
        made.stdout, made.stderr = read_out, read_err
        for mine in {out, err}:
            os.close(mine)
        return made

    def _listen(self) -> None:
        while content := self._ours.recv(_LONGEST):
            told = json.loads(content)
            if "started" in told:
                made = self._running[told["started"]] = Forked(told["started"])
                self._started.put(made)
            else:
                self._running.pop(told["ended"]).ended(told["code"])


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


def launch(*arguments: str, **options: Any) -> Forked:
    """``python -m ARGUMENTS`` by the launcher of this process."""
    global _launcher  # noqa: PLW0603
    if _launcher is None:
        _launcher = Launcher()
    return _launcher.start(*arguments, **options)


def main() -> None:
    """The launcher's own process; it ends with the one that started it, and its forks then go on by themselves."""
    channel = socket.socket(fileno=int(sys.argv[1]))
    for module in _MODULES:
        __import__(module)
    # SIGCHLD only has to interrupt the waiting: the children are then reaped in the loop.
    waker, sleeper = os.pipe()
    os.set_blocking(sleeper, False)
    signal.set_wakeup_fd(sleeper)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    channel.send(b"ready")
    while True:
        readable, _, _ = select.select([channel.fileno(), waker], [], [])
        if waker in readable:
            os.read(waker, 4096)
            _reap(channel)
        if channel.fileno() in readable:
            content, files, _, _ = socket.recv_fds(channel, _LONGEST, 2, socket.MSG_CMSG_CLOEXEC)
            if not content:
                return
            pid = os.fork()
            if pid == 0:
                channel.close()
                _become(json.loads(content), *files)
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
        channel.send(json.dumps({"ended": pid, "code": os.waitstatus_to_exitcode(status)}).encode())


def _become(asked: dict[str, Any], stdout: int, stderr: int) -> None:
    """The process that was asked for; does not return."""
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(stdout, 1)
        os.dup2(stderr, 2)
        os.environ.clear()
        os.environ.update(asked["env"])
        os.chdir(asked["cwd"])
        module, *arguments = asked["arguments"]
        sys.argv = [module, *arguments]
        sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115
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


if __name__ == "__main__":
    main()
