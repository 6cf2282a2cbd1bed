"""API and worker as processes of one deployment, kept alive together until they are asked to stop."""

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

from core.settings import PREFIX, Settings
from service.commands.addresses import require_free
from service.commands.errors import CommandError

_POLL_SECONDS = 0.2
_PATIENCE_SECONDS = 20.0
_RESTART_SECONDS = 2.0


class Meanwhile(Protocol):
    """What else happens while both run."""

    def step(self, seconds: float) -> int | None:
        """Takes about so long; an exit code, if everything shall end."""
        ...

    def close(self) -> None:
        """Ends it, before the others are stopped."""
        ...


class Nothing:
    def step(self, seconds: float) -> int | None:
        time.sleep(seconds)
        return None

    def close(self) -> None:
        pass


def run_together(settings: Settings, host: str, port: int, meanwhile: Meanwhile) -> int:
    """In the foreground; a signal, or what happens meanwhile, ends both. Returns the exit code."""
    require_free(host, port)
    # API and fits share the cores: a thread that waits for another must not keep a core busy.
    known = {"OMP_WAIT_POLICY": "PASSIVE", **os.environ, f"{PREFIX}HOME": str(settings.home.absolute())}
    api = ["-m", "service", "api", "--host", host, "--port", str(port)]
    stopping, code = False, None

    def stop(*_: Any) -> None:
        nonlocal stopping
        stopping = True

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        with started(api, settings.home / "api.log", known) as server:
            told = False
            while not stopping and code is None and server.poll() is None:
                with started(["-m", "worker"], settings.home / "worker.log", known) as worker:
                    while not stopping and code is None and server.poll() is None and worker.poll() is None:
                        if not told and _answers(host, port):
                            print(f"certiset is at http://{host}:{port}. Ctrl-C stops it.", flush=True)
                            told = True
                        code = meanwhile.step(_POLL_SECONDS)
                    if stopping or code is not None or server.poll() is not None:
                        meanwhile.close()
                if not stopping and code is None and server.poll() is None:
                    print("The worker ended and is started again; HOME/worker.log says why.", file=sys.stderr)
                    time.sleep(_RESTART_SECONDS)
            api_ended = server.poll()
    finally:
        meanwhile.close()
        for number, handler in before.items():
            signal.signal(number, handler)
    if not stopping and code is None:
        raise CommandError(f"The API ended with exit code {api_ended}: {settings.home / 'api.log'} says why.")
    return code or 0


def _answers(host: str, port: int) -> bool:
    reached = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    with contextlib.suppress(OSError):
        socket.create_connection((reached, port), timeout=1).close()
        return True
    return False


@contextlib.contextmanager
def started(arguments: list[str], log: Path, environment: Mapping[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """A process of ours that ends with the block: asked first, killed if it will not."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as stream:
        # In a session of its own: a Ctrl-C reaches this process alone, which then stops the others in order.
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
        process.wait(_PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
