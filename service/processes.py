"""API and worker as processes of one deployment, kept running until they are asked to stop."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from certiset.core.errors import CertisetError
from certiset.core.settings import PREFIX, Settings

_POLL_SECONDS = 0.2
_STOP_TIMEOUT_SECONDS = 20.0
_RESTART_SECONDS = 2.0


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


def run_service(settings: Settings, host: str, port: int, companion: Companion) -> int:
    """API and worker in the foreground, until a signal or the companion stops both. Returns the exit code."""
    require_free(host, port)
    # API and fits share the cores: a thread that waits for another must not keep a core busy.
    known = {"OMP_WAIT_POLICY": "PASSIVE", **os.environ, f"{PREFIX}HOME": str(settings.home.absolute())}
    api = ["-m", "certiset", "api", "--host", host, "--port", str(port)]
    stopping, code = False, None

    def stop(*_: Any) -> None:
        nonlocal stopping
        stopping = True

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        with started(api, settings.home / "api.log", known) as server:
            announced = False
            while not stopping and code is None and server.poll() is None:
                with started(["-m", "certiset.worker"], settings.home / "worker.log", known) as worker:
                    while not stopping and code is None and server.poll() is None and worker.poll() is None:
                        if not announced and _answers(host, port):
                            print(f"certiset is at http://{host}:{port}. Ctrl-C stops it.", flush=True)
                            announced = True
                        code = companion.step(_POLL_SECONDS)
                    if stopping or code is not None or server.poll() is not None:
                        companion.close()
                if not stopping and code is None and server.poll() is None:
                    print("The worker stopped and is being restarted; see HOME/worker.log.", file=sys.stderr)
                    time.sleep(_RESTART_SECONDS)
            api_ended = server.poll()
    finally:
        companion.close()
        for number, handler in before.items():
            signal.signal(number, handler)
    if not stopping and code is None:
        raise ServiceError(f"The API stopped with exit code {api_ended}; see {settings.home / 'api.log'}.")
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


@contextlib.contextmanager
def started(arguments: list[str], log: Path, environment: Mapping[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """A process that is stopped at the end of the block: terminated, then killed if it does not stop."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as stream:
        # In its own session: a Ctrl-C reaches this process alone, which then stops the others in order.
        process = subprocess.Popen(
            [sys.executable, "-P", *arguments], env=environment, stdout=stream, stderr=stream, start_new_session=True
        )
    try:
        yield process
    finally:
        end(process)


def end(process: "subprocess.Popen[bytes]") -> None:
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
