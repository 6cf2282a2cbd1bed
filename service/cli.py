"""The ``certiset`` command: finds the subcommand, runs it, and turns errors into a sentence and an exit code."""

import argparse
import sys
from collections.abc import Sequence
from typing import NoReturn

from service.commands import api, budget, jobs, keys, migrate, up, verify, worker
from service.commands.errors import CommandError

USAGE_ERROR = 2
INTERRUPTED = 130

_COMMANDS = (api, budget, jobs, keys, migrate, up, verify, worker)


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence, without the usage lines that bury it."""

    def error(self, message: str) -> NoReturn:
        self.exit(USAGE_ERROR, f"{self.prog}: {message}\nTry '{self.prog} --help'.\n")


def build_parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="certiset", description="Prediction sets with certificates of coverage and size.")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=_Parser)
    for command in _COMMANDS:
        command.register(subparsers)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns the exit code: 0 done, 1 a check failed, 2 bad input."""
    options = build_parser().parse_args(arguments)
    try:
        code: int = options.run(options)
    except CommandError as error:
        print(f"certiset {options.command}: {error}", file=sys.stderr)
        return USAGE_ERROR
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader, such as `head`, has seen enough.
        sys.stderr.close()
        return 0
    return code
