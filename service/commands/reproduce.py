"""``certiset reproduce``: the evidence, made again."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from service.commands.bench import require_benchmarks
from service.commands.errors import CommandError

_EXAMPLES = """examples:
  certiset reproduce reference --data ../shared/reference
  certiset reproduce reference --data FOLDER --output docs/results --json

reference: our fits on the data and base models on which the authors' code was measured, in one table with its figures

exit codes: 0 done, 2 bad input, or the data are not there
"""


def register(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "reproduce",
        help="make the published evidence again",
        description="Runs an experiment and prints its table; with --output, also writes what was measured.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("experiment", choices=["reference"], help="which")
    parser.add_argument(
        "--data", type=Path, required=True, metavar="FOLDER", help="where toy.npz and mnist_features.npz are"
    )
    parser.add_argument("--output", type=Path, metavar="FOLDER", help="where to write the JSON and the table")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    require_benchmarks()
    from benchmarks.like_for_like import measure, table, write  # noqa: PLC0415 (torch takes seconds to load)
    from benchmarks.reference_data import ReferenceMissingError  # noqa: PLC0415

    try:
        result = measure(options.data, lambda line: print(line, file=sys.stderr, flush=True))
    except ReferenceMissingError as error:
        raise CommandError(str(error)) from None
    if options.output is not None:
        for file in write(result, options.output):
            print(f"wrote {file}", file=sys.stderr)
    print(json.dumps(result, indent=2) if options.json else table(result), end="\n" if options.json else "")
    return 0
