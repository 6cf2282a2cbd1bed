"""Code that touches hostile files or graphs, in a process of its own with limits.

What a stranger's bytes do to such a process (an abort in a C++ library, an endless loop, all of the memory) they cannot
do to the service or the worker. `call` runs one function and brings its answer back; `Standing` has a process that
answers call after call; `Process` is one that has questions and answers of its own.
"""

import contextlib
import json
import math
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from certiset.core import confinement as confined
from certiset.core.bounds.errors import BoundsError, TooFewPointsError
from certiset.core.confinement import Confinement, scrubbed
from certiset.core.errors import CertisetError

_LONGEST_ANSWER = 2**22
_LONGEST_MESSAGE = 2000
_PIPE = 2**20
"""bytes on their way to or from a process that stays"""


class SandboxError(CertisetError, RuntimeError):
    """The process crashed, ran out of memory or time, or was killed; the message says which."""

    code = "sandbox_failed"


class Process:
    """A confined Python process that runs one module, in a session of its own: it is killed with all that it started.

    Without an ``environment`` it gets one without any setting or password.
    """

    def __init__(
        self,
        module: str,
        confinement: Confinement,
        *,
        environment: Mapping[str, str] | None = None,
        quiet: bool = False,
        descriptors: Sequence[int] = (),
    ) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", confined.__name__, confinement.to_json(), module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if quiet else None,
            env=scrubbed(os.environ) if environment is None else dict(environment),
            pass_fds=descriptors,
            # A Ctrl-C meant for whoever started it must not reach it first.
            start_new_session=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self.stdin: IO[bytes] = self._process.stdin
        self.stdout: IO[bytes] = self._process.stdout

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        # A group whose leader is gone but not yet waited for is refused on some systems; its leader can be killed.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.wait()
        for stream in (self.stdin, self.stdout):
            with contextlib.suppress(OSError):
                stream.close()

    def cause_of_death(self, wait: float = 5.0) -> str:
        """How the process ended, in a clause such as "was killed by SIGSEGV"."""
        try:
            code = self._process.wait(timeout=wait)
        except subprocess.TimeoutExpired:
            return "closed its output and hangs"
        if code == -signal.SIGXCPU:
            return "used more CPU time than it may"
        if code == -signal.SIGKILL:
            return "was killed, most likely because memory ran out"
        if code < 0:
            return f"was killed by {signal.Signals(-code).name}"
        return f"ended with exit code {code}"


@dataclass(frozen=True)
class Returned:
    value: Any
    """what the function returned, by way of JSON; None if it returned arrays"""
    arrays: list[NDArray[Any]]


def call(
    function: str,
    arguments: Mapping[str, Any],
    *,
    confinement: Confinement,
    seconds: float,
    most_bytes: int = 2**32,
) -> Returned:
    """Calls ``module:function`` with keyword arguments that JSON can carry, in a confined process of its own.

    The function returns a value for JSON, or a tuple of arrays. An error of certiset's that it raises is raised here,
    of the same class; whatever else happens to the process is a `SandboxError`. So are arrays of more than
    ``most_bytes`` in all.
    """
    process = Process(__name__, confinement, quiet=True)
    try:
        return _told(*_asked(process, {"function": function, "arguments": dict(arguments)}, b"", seconds, most_bytes))
    finally:
        process.kill()


class Standing:
    """A function in a confined process that stays, since starting one takes longer than most answers.

    Called from any thread, one call at a time. The first call starts the process, as does one after it has died.
    """

    def __init__(self, function: str, *, confinement: Confinement, seconds: float) -> None:
        self._function, self._confinement, self._seconds = function, confinement, seconds
        self._lock = threading.Lock()
        self._process: Process | None = None

    def __call__(self, content: bytes, arguments: Mapping[str, Any], most_bytes: int) -> Returned:
        """As `call` does; the function gets the bytes as ``content``."""
        asked = {"function": self._function, "arguments": dict(arguments), "bytes": len(content)}
        with self._lock:
            process = self._process
            if process is None or not process.alive:
                self._drop()
                process = self._process = Process(__name__, self._confinement, quiet=True)
                _widen(process.stdin, process.stdout)
            try:
                found = _asked(process, asked, content, self._seconds, most_bytes)
            except SandboxError:
                self._drop()
                raise
        return _told(*found)

    def stop(self) -> bool:
        """Ends the process if it is not answering; the next call starts another one."""
        if not self._lock.acquire(blocking=False):
            return False
        try:
            self._drop()
            return True
        finally:
            self._lock.release()

    def kill(self) -> None:
        """Ends the process whatever it does; whoever waits for its answer gets a `SandboxError`."""
        process = self._process
        if process is not None:
            process.kill()

    def _drop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process = None


def _widen(*pipes: IO[bytes]) -> None:
    """Large bodies then take a fraction of the turns between the two processes."""
    with contextlib.suppress(ImportError, AttributeError, OSError):
        import fcntl  # noqa: PLC0415 (not on Windows)

        for pipe in pipes:
            fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, _PIPE)


def _asked(
    process: Process, question: Mapping[str, Any], content: bytes, seconds: float, most_bytes: int
) -> tuple[Any, list[NDArray[Any]]]:
    """The head of the answer, and its arrays."""
    late = threading.Event()

    def expire() -> None:
        late.set()
        process.kill()

    timer = threading.Timer(seconds, expire)
    timer.start()
    try:
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(json.dumps(question).encode() + b"\n")
            process.stdin.write(content)
            process.stdin.flush()
        answer = json.loads(process.stdout.readline(_LONGEST_ANSWER))
        return answer, _received(process.stdout, answer.get("arrays", []), most_bytes)
    except (ValueError, EOFError, TypeError, AttributeError, RecursionError):
        # The process may have been taken over: what it says need not make sense.
        if late.is_set():
            raise SandboxError(f"did not finish within {seconds:g} seconds") from None
        raise SandboxError(process.cause_of_death()) from None
    finally:
        timer.cancel()


def _told(answer: Any, arrays: list[NDArray[Any]]) -> Returned:
    if "error" in answer:
        raise _error(answer["error"])
    return Returned(answer.get("value"), arrays)


def main() -> None:
    """The other side: questions on standard input, some with bytes behind them, answers on standard output."""
    questions, output = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # What libraries print must not garble the answer.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    while line := questions.readline():
        asked = json.loads(line)
        if "bytes" in asked:
            asked["arguments"]["content"] = questions.read(asked["bytes"])
        _answer(asked, output)


def _answer(asked: Mapping[str, Any], output: IO[bytes]) -> None:
    module, _, name = asked["function"].partition(":")
    arrays: Sequence[NDArray[Any]] = ()
    try:
        value = getattr(import_module(module), name)(**asked["arguments"])
        if isinstance(value, tuple):
            arrays, value = [np.asarray(array, order="C") for array in value], None
        head = {"value": value, "arrays": [(array.dtype.str, array.shape) for array in arrays]}
    except CertisetError as error:
        codes = [kind.code for kind in type(error).__mro__ if issubclass(kind, CertisetError)]
        head = {"error": {"codes": codes, "message": str(error), "field": error.field}}
    except MemoryError:
        head = {"error": {"codes": [SandboxError.code], "message": "needs more memory than it may use", "field": None}}
    output.write(json.dumps(head).encode() + b"\n")
    for array in arrays:
        output.write(array.reshape(-1).data.cast("B"))
    output.flush()


def _received(stream: IO[bytes], described: Sequence[Sequence[Any]], most_bytes: int) -> list[NDArray[Any]]:
    arrays: list[NDArray[Any]] = []
    for name, shape in described:
        dtype = np.dtype(str(name))
        most_bytes -= dtype.itemsize * math.prod(shape)
        if dtype.kind not in "biufS" or most_bytes < 0:
            raise ValueError("an array of objects, or a larger one than was agreed")
        array: NDArray[Any] = np.empty(shape, dtype=dtype)
        left = array.reshape(-1).view(np.uint8).data if array.size else memoryview(b"")
        while left:
            count = stream.readinto(left)  # type: ignore[attr-defined]
            if not count:
                raise EOFError
            left = left[count:]
        arrays.append(array)
    return arrays


def _error(told: Any) -> CertisetError:
    """Of the nearest class that is known on this side: a foreign kind may raise subclasses of its own."""
    try:
        codes, message = list(told["codes"]), str(told["message"])[:_LONGEST_MESSAGE]
        field = None if told["field"] is None else str(told["field"])[:_LONGEST_MESSAGE]
    except (TypeError, KeyError):
        return SandboxError("gave an answer that makes no sense")
    known = {kind.code: kind for kind in reversed(list(_subclasses(CertisetError)))}
    kind = next((known[code] for code in codes if code in known), CertisetError)
    if kind is TooFewPointsError:
        kind = BoundsError
    return kind(message, field=field)


def _subclasses(kind: type[CertisetError]) -> Iterator[type[CertisetError]]:
    for inner in kind.__subclasses__():
        yield inner
        yield from _subclasses(inner)


if __name__ == "__main__":
    main()
