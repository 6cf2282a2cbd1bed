"""``certiset worker``: a worker in the foreground."""

import argparse
import os
import sys
from typing import Any

from certiset.service.cli.deployment import add_home
from certiset.service.cli.parsers import add_command

_EXAMPLES = """examples:
  certiset worker
  CERTISET_BROKER_URL=redis://host:6379/0 CERTISET_DATABASE_URL=postgresql://... certiset worker

On SIGTERM, running fits are requeued. Start one worker per machine.

exit codes: 0 stopped, 2 bad input
"""


def register(subparsers: Any) -> None:
    parser = add_command(
        subparsers, "worker", "Runs a worker: one fit at a time on each visible GPU, or on the CPU.", _EXAMPLES
    )
    add_home(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    environment = dict(os.environ)
    if options.home is not None:
        environment["CERTISET_HOME"] = str(options.home.absolute())
    # Takes this process over: signals reach the worker itself, and the command line does not stay in memory.
    os.execve(sys.executable, [sys.executable, "-P", "-m", "certiset.worker"], environment)
