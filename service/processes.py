"""API and worker as processes of one deployment, kept running until they are asked to stop."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from certiset.core.errors import CertisetError
from certiset.core.settings import PREFIX, Settings

_POLL_SECONDS = 0.2
_STOP_TIMEOUT_SECONDS = 20.0
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 1.0, 30.0
_HEALTHY_SECONDS = 60.0
_FALSE_STARTS, _FALSE_START_SECONDS = 3, 20.0
"""so many ends within so many seconds of a start, before the process has ever run for longer"""


class ServiceError(CertisetError):
    """The service cannot be started, or stopped unexpectedly."""

    code = "service_not_running"


class Companion(Protocol):
    """What else happens while API and worker run."""

    def step(self, seconds: float) -> int | None:
        """Takes about that long; returns an exit code if everything should stop."""
        ...

    def close(self) -> None:
        """Stops it, before the others are stopped."""
        ...


class NoCompanion:
    def step(self, seconds: float) -> int | None:
        time.sleep(seconds)
        return None

    def close(self) -> None:
        pass


class KeptRunning:
    """A process that is started again when it ends: after 1, 2, 4 … 30 seconds, and after 1 again once it ran a minute.

    One that gives up soon, several times from the very first start, cannot start at all: that is an error.
    """

    def __init__(self, name: str, arguments: list[str], log: Path, environment: Mapping[str, str]) -> None:
        self._name, self._arguments, self._log, self._environment = name, arguments, log, environment
        self._pause, self._false_starts = _FIRST_PAUSE_SECONDS, 0
        self.has_run = False
        """whether it has ever done its work"""
        self._process: subprocess.Popen[bytes] | None = None
        self._begun = self._next = time.monotonic()
        self._start()

    def step(self) -> None:
        """To be called several times a second."""
        now = time.monotonic()
        if self._process is None:
            if now >= self._next:
                self._start()
        elif self._process.poll() is not None:
            self._ended(self._process.returncode, now - self._begun)
        else:
            self.has_run = self.has_run or now - self._begun > _FALSE_START_SECONDS

    def close(self) -> None:
        if self._process is not None:
            end(self._process)

    def ask_to_stop(self) -> None:
        if self._process is not None:
            self._process.terminate()

    def _start(self) -> None:
        self._process, self._begun = start(self._arguments, self._log, self._environment), time.monotonic()

    def _ended(self, code: int, ran: float) -> None:
        self._process = None
        # One that was killed, which is a negative code, did not give up.
        if not self.has_run and code > 0:
            self._false_starts += 1
            if self._false_starts >= _FALSE_STARTS:
                raise ServiceError(f"The {self._name} stopped with exit code {code}; see {self._log}.")
        if ran > _HEALTHY_SECONDS:
            self._pause = _FIRST_PAUSE_SECONDS
        print(
            f"The {self._name} stopped with exit code {code} and is started again in {self._pause:g} s; "
            f"see {self._log}.",
            file=sys.stderr,
            flush=True,
        )
        self._next = time.monotonic() + self._pause
        self._pause = min(2 * self._pause, _LONGEST_PAUSE_SECONDS)


def run_service(settings: Settings, host: str, port: int, companion: Companion) -> int:
    """API and worker in the foreground, until a signal or the companion stops both. Returns the exit code."""
    require_free(host, port)
    # API and fits share the cores: a thread that waits for another must not keep a core busy.
    known = {"OMP_WAIT_POLICY": "PASSIVE", **os.environ, f"{PREFIX}HOME": str(settings.home.absolute())}
    commands = {
        "API": (["-m", "certiset", "api", "--host", host, "--port", str(port)], settings.home / "api.log"),
        "worker": (["-m", "certiset.worker"], settings.home / "worker.log"),
    }
    stopping, code, announced = False, None, False

    def stop(*_: Any) -> None:
        nonlocal stopping
        stopping = True

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    kept: list[KeptRunning] = []
    try:
        for name, (arguments, log) in commands.items():
            kept.append(KeptRunning(name, arguments, log, known))
        while not stopping and code is None:
            for process in kept:
                process.step()
            if not announced and _answers(host, port):
                print(f"certiset is at http://{host}:{port}. Ctrl-C stops it.", flush=True)
                announced = kept[0].has_run = True
            code = companion.step(_POLL_SECONDS)
    finally:
        companion.close()
        for process in kept:
            process.ask_to_stop()
        for process in kept:
            process.close()
        for number, handler in before.items():
            signal.signal(number, handler)
    return code or 0


def require_free(host: str, port: int) -> None:
    """Fails early: a server would notice only after some seconds."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise ServiceError(f"Cannot listen on port {port} of {host}: {error.strerror or error}.") from None


def start(arguments: list[str], log: Path, environment: Mapping[str, str]) -> "subprocess.Popen[bytes]":
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as stream:
        # In its own session: a Ctrl-C reaches this process alone, which then stops the others in order.
        return subprocess.Popen(
            [sys.executable, "-P", *arguments], env=environment, stdout=stream, stderr=stream, start_new_session=True
        )


def end(process: "subprocess.Popen[bytes]") -> None:
    """Terminated, then killed if it does not stop."""
    process.terminate()
    try:
        process.wait(_STOP_TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _answers(host: str, port: int) -> bool:
    reached = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    with contextlib.suppress(OSError):
        socket.create_connection((reached, port), timeout=1).close()
        return True
    return False
