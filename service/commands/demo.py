"""``certiset demo``: two problems from training to certified sets, on a server that is there or one of its own."""

import argparse
import contextlib
import os
import sys
import time
from typing import Any

import httpx

from core.settings import PREFIX, Settings
from service.client import Client, UnreachableError
from service.client.defaults import default_key
from service.commands.addresses import port_number
from service.commands.connection import explained, print_json
from service.commands.errors import INTERRUPTED, NO_SERVER, CommandError
from service.commands.settings import add_home, read_settings
from service.commands.together import run_together
from service.commands.up import prepare

_EXAMPLES = """examples:
  certiset demo
  certiset demo --home /srv/certiset --port 9000
  certiset demo --url https://sets.example --key KEY
  certiset demo --exit --json

Without --url the demo uses the server at this machine's port, or starts one as 'certiset up' does and lets it run on. A
second demo finds the fits of the first. No network is needed: the toy is generated, the digits are scikit-learn's.

exit codes: 0 done, 1 a fit failed, 2 bad input or refused by the server, 3 the server cannot be reached, 130 Ctrl-C
before it was done
"""
_PATIENCE_SECONDS = 120.0


def register(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "demo",
        description="Trains two small models, uploads calibration data, fits by three methods with live bars, prints "
        "the certificates as sentences and a table of what was promised and what was measured.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_home(parser)
    parser.add_argument(
        "--port", type=port_number, default=8000, help="the server's port on this machine (default 8000)"
    )
    parser.add_argument("--url", metavar="URL", help="a server that runs elsewhere, instead")
    parser.add_argument("--key", metavar="KEY", help="its API key (default CERTISET_KEY, or HOME/key)")
    parser.add_argument("--exit", action="store_true", help="end after the demo, with the server that it started")
    parser.add_argument("--json", action="store_true", help="print the table as JSON, and everything else to stderr")
    parser.add_argument("--patient", action="store_true", help=argparse.SUPPRESS)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    settings = read_settings(options)
    url = options.url or f"http://127.0.0.1:{options.port}"
    if options.url or _answers(url):
        return _show(options, settings, url)
    return _serve_and_show(options, settings, url)


def _show(options: argparse.Namespace, settings: Settings, url: str) -> int:
    from service.demo.demo import rows_json, run_demo  # noqa: PLC0415 (here, so that --help need not wait for it)
    from service.demo.running import FailedFitError  # noqa: PLC0415
    from service.demo.telling import Teller  # noqa: PLC0415

    key = _key(options, settings, url)
    tell = Teller(sys.stderr if options.json else sys.stdout)
    with explained(), Client(url, key) as client:
        _wait_until_ready(client, _PATIENCE_SECONDS if options.patient else 0.0)
        try:
            rows = run_demo(client, tell)
        except FailedFitError as error:
            print(f"certiset demo: {error}", file=sys.stderr)
            return 1
        tell.say()
        tell.dashboard(client.url, key)
        if options.json:
            print_json(rows_json(rows))
    return 0


def _serve_and_show(options: argparse.Namespace, settings: Settings, url: str) -> int:
    from service.demo.alongside import DemoAlongside  # noqa: PLC0415

    with contextlib.redirect_stdout(sys.stderr) if options.json else contextlib.nullcontext():
        prepare(settings, "127.0.0.1")
        arguments = ["--json"] if options.json else []
        key = _key(options, settings, url)
        if key is None:
            raise CommandError("No key is known here: make one with 'certiset keys create', and give it as --key.")
        demo = DemoAlongside(url, key, arguments, ends_all=options.exit)
        code = run_together(settings, "127.0.0.1", options.port, demo)
        return INTERRUPTED if demo.cut_off else code


def _key(options: argparse.Namespace, settings: Settings, url: str) -> str | None:
    """The one that is given; for a deployment in HOME its own, before that of the environment."""
    if options.key or options.url:
        return options.key or default_key(url, {**os.environ, f"{PREFIX}HOME": str(settings.home)})
    own = default_key(url, {f"{PREFIX}HOME": str(settings.home)})
    return own or os.environ.get(f"{PREFIX}KEY")


def _wait_until_ready(client: Client, patience: float) -> None:
    deadline = time.monotonic() + patience
    while True:
        try:
            if client.health().ready:
                return
        except UnreachableError:
            if time.monotonic() > deadline:
                raise
        if time.monotonic() > deadline:
            raise CommandError(f"{client.url} is not ready: its readyz says what is away.", NO_SERVER)
        time.sleep(0.2)


def _answers(url: str) -> bool:
    try:
        return bool(httpx.get(f"{url}/healthz", timeout=5).json() == {"status": "ok"})
    except (httpx.HTTPError, ValueError):
        return False
