"""``certiset up``: API and worker in the foreground, without any other server."""

import argparse
import os
import sys
from typing import Any

from certiset.service.cli.addresses import add_address
from certiset.service.cli.deployment import add_home, prepare, read_settings
from certiset.service.cli.parsers import add_command
from certiset.service.demo.process import DemoOffer, demo_command
from certiset.service.processes import NoCompanion, require_free, run_service

_EXAMPLES = """examples:
  certiset up
  certiset up --port 9000 --home /srv/certiset --no-demo

Ctrl-C stops everything; all data are kept. Logs are in HOME/api.log and HOME/worker.log. An API or worker that dies is
started again.

exit codes: 0 stopped by Ctrl-C or SIGTERM, 2 bad input, or the API or the worker cannot be started
"""


def register(subparsers: Any) -> None:
    parser = add_command(
        subparsers,
        "up",
        "Starts the HTTP service and a worker on the embedded default: no Redis, no PostgreSQL, no Docker. "
        "The first start creates a key, prints it, saves it in HOME/key, and offers the demo.",
        _EXAMPLES,
    )
    add_home(parser)
    add_address(parser)
    parser.add_argument("--no-demo", action="store_true", help="do not offer the demo on the first start")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    settings = read_settings(options)
    # Before anything is made: who mistook the port should not find a new deployment, with a key that opens nothing.
    require_free(options.host, options.port)
    first = prepare(settings, options.host)
    if not first or options.no_demo:
        return run_service(settings, options.host, options.port, NoCompanion())
    url = f"http://{options.host}:{options.port}"
    if not _is_interactive():
        print(f"To see it work, in another terminal: {demo_command(settings, url)}", flush=True)
        return run_service(settings, options.host, options.port, NoCompanion())
    return run_service(settings, options.host, options.port, DemoOffer(settings, url))


def _is_interactive() -> bool:
    """Whether a question would be seen and could be answered, which is not so in the background."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    try:
        return os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    except OSError:
        # A terminal, but not the one that controls this process: nobody can have sent it to the background.
        return True
