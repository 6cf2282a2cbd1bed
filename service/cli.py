"""The ``certiset`` command: finds the subcommand, runs it, and turns errors into a sentence and an exit code."""

import argparse
import importlib
import sys
from collections.abc import Sequence
from typing import NoReturn

from service.commands.errors import BAD_INPUT, INTERRUPTED, CommandError

COMMANDS = (
    *("up", "demo", "data"),
    *("datasets", "models", "calibrate", "predict", "certificates", "verify", "budget"),
    *("api", "worker", "migrate", "keys", "jobs", "bench", "reproduce"),
)
"""those to begin with, those for daily use, and those for operators"""
_EXAMPLES = """examples:
  certiset up
  certiset calibrate --dataset calibration.npz --model mod-01jd... --alpha 0.1

'certiset COMMAND --help' has examples of each.

exit codes: 0 done, 1 what was asked for failed (a fit, a check), 2 bad input or refused by the server, 3 the server
cannot be reached, 130 Ctrl-C
"""


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence, without the usage lines that bury it."""

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"{self.prog}: {message}\nTry '{self.prog} --help'.\n")


def build_parser(arguments: Sequence[str] = ()) -> argparse.ArgumentParser:
    """Of all commands, or, for arguments that begin with one, of that alone: the others need not be loaded."""
    parser = _Parser(
        prog="certiset",
        description="Prediction sets with certificates of coverage and size.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=_Parser)
    for command in arguments[:1] if arguments and arguments[0] in COMMANDS else COMMANDS:
        importlib.import_module(f"service.commands.{command}").register(subparsers)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns the exit code; --help says which there are."""
    given = sys.argv[1:] if arguments is None else arguments
    options = build_parser(given).parse_args(given)
    try:
        code: int = options.run(options)
    except CommandError as error:
        print(f"certiset {options.command}: {error}", file=sys.stderr)
        return error.code
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader, such as `head`, has seen enough.
        sys.stderr.close()
        return 0
    return code
