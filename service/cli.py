"""The ``certiset`` command: finds the subcommand, runs it, and turns errors into a sentence and an exit code."""

import argparse
import importlib
import sys
from collections.abc import Sequence
from typing import NoReturn

from service.commands.errors import BAD_INPUT, INTERRUPTED, CommandError

COMMANDS = {
    "up": "run API and worker, in the foreground",
    "demo": "train, calibrate and serve two small problems, and show it all",
    "data": "write public data as files that are ready for upload",
    "datasets": "upload, list and delete calibration data",
    "models": "upload and list models",
    "calibrate": "calibrate a model on a dataset, with a live bar",
    "predict": "ask for prediction sets",
    "certificates": "list, show, download and verify certificates",
    "verify": "check a certificate by its own numbers, offline",
    "budget": "KL budgets and usable ranks for a calibration size",
    "api": "serve HTTP, in the foreground",
    "worker": "run calibrations, in the foreground",
    "migrate": "bring the database to this version's schema",
    "keys": "make, list and revoke API keys",
    "jobs": "list, watch, cancel and retry calibrations",
    "bench": "measure speed, as ratios within one run",
    "reproduce": "make the published evidence again",
}
"""those to begin with, those for daily use, and those for operators, each in a few words"""
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


def build_parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    """For these arguments: of the command that they begin with, or else of all by name, with none of them loaded."""
    parser = _Parser(
        prog="certiset",
        description="Prediction sets with certificates of coverage and size.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=_Parser)
    first = next((argument for argument in arguments if not argument.startswith("-")), None)
    if first in COMMANDS:
        importlib.import_module(f"service.commands.{first}").register(subparsers)
        return parser
    for command, sentence in COMMANDS.items():
        subparsers.add_parser(command, help=sentence)
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
