"""The ``certiset`` command: finds the subcommand, runs it, and turns errors into a sentence and an exit code."""

import argparse
import difflib
import importlib
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import certiset
from certiset import extras
from certiset.core.display import harmless
from certiset.core.errors import CertisetError
from certiset.service.cli.errors import BAD_INPUT, INTERRUPTED, UNHEARD, CommandError

COMMANDS = {
    "up": "run the API and a worker in the foreground",
    "demo": "train, calibrate and serve two small models",
    "data": "write public datasets as files that are ready for upload",
    "datasets": "upload, list and delete calibration data",
    "models": "upload, list and delete models",
    "calibrate": "calibrate a model on a dataset, with a progress bar",
    "calibrations": "list, cancel and delete calibrations",
    "predict": "get prediction sets",
    "batches": "have a server write the sets of all rows of a dataset",
    "predict-file": "write a file's rows with their sets, by a saved predictor and without a server",
    "predictors": "list, watch and delete what is served",
    "monitor": "whether reported outcomes contradict a predictor",
    "deployments": "names that stand for predictors: set, list, roll back",
    "outcomes": "report what came true, correct it, annul it",
    "certificates": "list, show, download and verify certificates",
    "usage": "what your tenant has, and may have",
    "verify": "check a certificate offline, by its own numbers and its signature",
    "audit": "recompute a certificate from the data, the model and the predictor",
    "budget": "KL budgets and usable ranks for a calibration size",
    "api": "serve HTTP in the foreground",
    "worker": "run calibrations in the foreground",
    "migrate": "bring the database to this version's schema",
    "audit-log": "export who changed what, and what was refused, as JSON lines",
    "keys": "create, list and revoke API keys",
    "tenant": "list tenants, set quotas, export or erase one",
    "jobs": "list, watch, cancel and retry calibrations",
    "doctor": "check a deployment and the machine that it runs on",
    "bench": "measure speed, as ratios within one run",
    "reproduce": "regenerate the published evidence",
}
"""commands to start with, for daily use and for operators, each with a short description"""
_OF_A_SERVER = ("up", "demo", "api", "worker", "migrate", "keys", "tenant", "jobs", "doctor")
"""the commands for which a plain installation is not enough"""
_VERDICTS = ("verify", "audit", "doctor")
_EXAMPLES = """examples:
  certiset up
  certiset calibrate --dataset calibration.npz --model mod-01jd... --alpha 0.1
  certiset --version

'certiset COMMAND --help' shows examples for each command.

exit codes: 0 done, 1 the requested fit or check failed, 2 bad input or refused by the server, 3 the server
cannot be reached (verify: nobody that you named has signed), 130 Ctrl-C
"""


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence, without the usage lines that bury it."""

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """A word that nobody knows is answered by the nearest of those that are known."""
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError:
            near = difflib.get_close_matches(str(value), list(map(str, action.choices or ())), n=1)
            if not near:
                raise
            raise argparse.ArgumentError(action, f"invalid choice: {value!r}; did you mean {near[0]!r}?") from None

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"{self.prog}: {message}\nTry '{self.prog} --help'.\n")


class _Version(argparse.Action):
    """Looks the version up only if it is asked for, which takes longer than to parse a command."""

    def __init__(self, option_strings: Sequence[str], dest: str) -> None:
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, help="print the version of certiset and exit")

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        print(f"certiset {certiset.__version__}")
        parser.exit()


def build_parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    """The parser for these arguments: of the command that they name, or else of all commands, without loading any."""
    parser = _Parser(
        prog="certiset",
        description="Prediction sets with certificates of coverage and size.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version)
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=_Parser)
    command = _command(arguments)
    if command in COMMANDS:
        importlib.import_module(f"certiset.service.cli.{_module(command)}").register(subparsers)
        return parser
    for name, sentence in COMMANDS.items():
        subparsers.add_parser(name, help=sentence)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns the exit code; --help lists the codes."""
    given = sys.argv[1:] if arguments is None else arguments
    name = f"certiset {_command(given)}"
    try:
        if _command(given) in _OF_A_SERVER:
            extras.require("server", name)
        options = build_parser(given).parse_args(given)
        code: int = options.run(options)
    except CommandError as error:
        print("\n".join(map(harmless, f"{name}: {error}".split("\n"))), file=sys.stderr)
        return error.exit_code
    except CertisetError as error:
        print("\n".join(map(harmless, f"{name}: {error}".split("\n"))), file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader, such as `head`, has seen enough. Where the exit code is a verdict, nobody has heard it.
        sys.stderr.close()
        return UNHEARD if _command(given) in _VERDICTS else 0
    except ModuleNotFoundError as error:
        explained = extras.explained(error, name)
        if not isinstance(explained, extras.MissingExtraError):
            raise
        print(f"{explained}.", file=sys.stderr)
        return BAD_INPUT
    return code


def _module(command: str | None) -> str:
    return str(command).replace("-", "_")


def _command(arguments: Sequence[str]) -> str | None:
    return next((argument for argument in arguments if not argument.startswith("-")), None)
