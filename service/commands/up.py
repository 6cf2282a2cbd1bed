"""``certiset up``: API and worker together in the foreground, with no server but themselves."""

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.errors import CertisetError
from core.settings import PREFIX, Settings
from service.access.first_key import make_first_key
from service.commands.addresses import is_local
from service.commands.errors import CommandError
from service.commands.settings import add_home, open_store, read_settings

_EXAMPLES = """examples:
  certiset up
  certiset up --port 9000 --home /srv/certiset --no-demo

Ctrl-C stops everything; starting again finds everything. Logs are in HOME/api.log and HOME/worker.log.
"""
_POLL_SECONDS = 0.2
_PATIENCE_SECONDS = 20.0
_RESTART_SECONDS = 2.0


def register(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "up",
        help="run API and worker, in the foreground",
        description="Starts the HTTP service and a worker on the embedded default: no Redis, no PostgreSQL, no Docker. "
        "The first start makes a key, prints it, and keeps it in HOME/key.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_home(parser)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default 127.0.0.1)")
    parser.add_argument("--port", type=int, default=8000, help="port to listen on (default 8000)")
    parser.add_argument("--no-demo", action="store_true", help="do not offer the demo (there is none yet)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    settings = read_settings(options)
    _prepare(settings, options.host)
    environment = {**os.environ, f"{PREFIX}HOME": str(settings.home.absolute())}
    api = ["-m", "service", "api", "--host", options.host, "--port", str(options.port)]
    stopping = False

    def stop(*_: Any) -> None:
        nonlocal stopping
        stopping = True

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        with _started(api, settings.home / "api.log", environment) as server:
            print(f"certiset is at http://{options.host}:{options.port}. Ctrl-C stops it.", flush=True)
            while not stopping and server.poll() is None:
                with _started(["-m", "worker"], settings.home / "worker.log", environment) as worker:
                    while not stopping and server.poll() is None and worker.poll() is None:
                        time.sleep(_POLL_SECONDS)
                if not stopping and server.poll() is None:
                    print("The worker ended and is started again; HOME/worker.log says why.", file=sys.stderr)
                    time.sleep(_RESTART_SECONDS)
            ended = server.poll()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if not stopping:
        raise CommandError(f"The API ended with exit code {ended}: {settings.home / 'api.log'} says why.")
    return 0


def _prepare(settings: Settings, host: str) -> None:
    """The database's schema, and the first key."""
    store = open_store(settings)
    try:
        key = make_first_key(settings, store) if settings.embedded_database and is_local(host) else None
    except CertisetError as error:
        raise CommandError(str(error)) from None
    finally:
        store.close()
    if key is not None:
        print(f"The first key, also in {settings.home / 'key'}: {key}", flush=True)


@contextlib.contextmanager
def _started(arguments: list[str], log: Path, environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
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
        process.terminate()
        try:
            process.wait(_PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
