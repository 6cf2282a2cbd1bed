"""``certiset demo``: two problems from training to certified sets, on a running server or one that it starts."""

import argparse
import contextlib
import os
import sys
import time
from dataclasses import asdict
from typing import Any

import httpx

from certiset.core.settings import PREFIX, Settings
from certiset.service.cli.addresses import port_number
from certiset.service.cli.connection import explained
from certiset.service.cli.deployment import add_home, prepare, read_settings
from certiset.service.cli.errors import INTERRUPTED, NO_SERVER, CommandError
from certiset.service.cli.output import print_json
from certiset.service.cli.parsers import add_command
from certiset.service.client import Client, UnreachableError
from certiset.service.client.defaults import default_key
from certiset.service.processes import run_service

_EXAMPLES = """examples:
  certiset demo
  certiset demo --home /srv/certiset --port 9000
  certiset demo --url https://sets.example --key KEY
  certiset demo --exit --json

Without --url the demo uses the server on this machine's port, or starts one as 'certiset up' does and keeps it running.
A second demo reuses the fits of the first. No network is needed: the toy data are generated, the digits come with
scikit-learn.

exit codes: 0 done, 1 a fit failed, 2 bad input or refused by the server, 3 the server cannot be reached, 130 Ctrl-C
before the end
"""


def register(subparsers: Any) -> None:
    parser = add_command(
        subparsers,
        "demo",
        "Trains two small models, uploads calibration data, fits by three methods with progress bars, "
        "and prints the certificates' statements and a table of what was promised and what was measured.",
        _EXAMPLES,
    )
    add_home(parser)
    parser.add_argument(
        "--port", type=port_number, default=8000, help="the server's port on this machine (default 8000)"
    )
    parser.add_argument("--url", metavar="URL", help="use a server that runs elsewhere")
    parser.add_argument("--key", metavar="KEY", help="its API key (default CERTISET_KEY, or HOME/key)")
    parser.add_argument("--exit", action="store_true", help="exit after the demo and stop the server that it started")
    parser.add_argument("--json", action="store_true", help="print the table as JSON, and everything else on stderr")
    parser.add_argument("--wait-seconds", type=float, default=0.0, help=argparse.SUPPRESS)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    settings = read_settings(options)
    url = options.url or f"http://127.0.0.1:{options.port}"
    if options.url or _answers(url):
        return _show(options, settings, url)
    return _serve_and_show(options, settings, url)


def _show(options: argparse.Namespace, settings: Settings, url: str) -> int:
    from certiset.service.demo.console import Console  # noqa: PLC0415
    from certiset.service.demo.demo import run_demo  # noqa: PLC0415 (here, so that --help need not wait for it)
    from certiset.service.demo.workflow import FailedFitError  # noqa: PLC0415

    key = _key(options, settings, url)
    console = Console(sys.stderr if options.json else sys.stdout)
    with explained(), Client(url, key) as client:
        _wait_until_ready(client, options.wait_seconds)
        try:
            results = run_demo(client, console)
        except FailedFitError as error:
            print(f"certiset demo: {error}", file=sys.stderr)
            return 1
        console.say()
        console.dashboard(client.url, key)
        if options.json:
            print_json([asdict(result) for result in results])
    return 0


def _serve_and_show(options: argparse.Namespace, settings: Settings, url: str) -> int:
    from certiset.service.demo.process import DemoProcess  # noqa: PLC0415

    with contextlib.redirect_stdout(sys.stderr) if options.json else contextlib.nullcontext():
        prepare(settings, "127.0.0.1")
        arguments = ["--json"] if options.json else []
        key = _key(options, settings, url)
        if key is None:
            raise CommandError("No API key was found: create one with 'certiset keys create' and pass it as --key.")
        demo = DemoProcess(url, key, arguments, ends_all=options.exit)
        code = run_service(settings, "127.0.0.1", options.port, demo)
        return INTERRUPTED if demo.cut_off else code


def _key(options: argparse.Namespace, settings: Settings, url: str) -> str | None:
    """The key given; for a deployment in HOME, its own key takes precedence over the environment's."""
    if options.key or options.url:
        return options.key or default_key(url, {**os.environ, f"{PREFIX}HOME": str(settings.home)})
    own = default_key(url, {f"{PREFIX}HOME": str(settings.home)})
    return own or os.environ.get(f"{PREFIX}KEY")


def _wait_until_ready(client: Client, timeout: float) -> None:
    deadline = time.monotonic() + timeout
    while True:
        try:
            if client.health().ready:
                return
        except UnreachableError:
            if time.monotonic() > deadline:
                raise
        if time.monotonic() > deadline:
            raise CommandError(f"{client.url} is not ready: GET /readyz names the part that is unavailable.", NO_SERVER)
        time.sleep(0.2)


def _answers(url: str) -> bool:
    try:
        return bool(httpx.get(f"{url}/healthz", timeout=5).json() == {"status": "ok"})
    except (httpx.HTTPError, ValueError):
        return False
