"""``certiset up``: API and worker together in the foreground, with no server but themselves."""

import argparse
import os
import sys
from typing import Any

from core.errors import CertisetError
from core.settings import Settings
from service.access.first_key import make_first_key
from service.commands.addresses import is_local, port_number
from service.commands.errors import CommandError
from service.commands.settings import add_home, open_store, read_settings
from service.commands.together import Nothing, run_together
from service.demo.alongside import Offer, demo_command

_EXAMPLES = """examples:
  certiset up
  certiset up --port 9000 --home /srv/certiset --no-demo

Ctrl-C stops everything; starting again finds everything. Logs are in HOME/api.log and HOME/worker.log.

exit codes: 0 stopped by Ctrl-C or SIGTERM, 2 bad input, or the API ended by itself
"""


def register(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "up",
        description="Starts the HTTP service and a worker on the embedded default: no Redis, no PostgreSQL, no Docker. "
        "The first start makes a key, prints it, keeps it in HOME/key, and offers the demo.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_home(parser)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default 127.0.0.1)")
    parser.add_argument("--port", type=port_number, default=8000, help="port to listen on (default 8000)")
    parser.add_argument("--no-demo", action="store_true", help="do not offer the demo on the first start")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    settings = read_settings(options)
    first = prepare(settings, options.host)
    if not first or options.no_demo:
        return run_together(settings, options.host, options.port, Nothing())
    url = f"http://{options.host}:{options.port}"
    if not _somebody_is_there():
        print(f"To see it work, in another terminal: {demo_command(settings, url)}", flush=True)
        return run_together(settings, options.host, options.port, Nothing())
    return run_together(settings, options.host, options.port, Offer(settings, url))


def _somebody_is_there() -> bool:
    """Whether a question would be seen, and could be answered: not so in the background."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    try:
        return os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    except OSError:
        # A terminal, but not the one that controls this process: nobody can have sent it to the background.
        return True


def prepare(settings: Settings, host: str) -> bool:
    """The database's schema, and the first key; whether that was made."""
    store = open_store(settings)
    try:
        key = make_first_key(settings, store) if settings.embedded_database and is_local(host) else None
    except CertisetError as error:
        raise CommandError(str(error)) from None
    finally:
        store.close()
    if key is not None:
        print(f"The first key, also in {settings.home / 'key'}: {key}", flush=True)
    return key is not None
