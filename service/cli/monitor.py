"""``certiset monitor``: whether reported outcomes contradict a predictor."""

from typing import Any

from certiset.service.cli.connection import EXIT_CODES, add_connection, connected
from certiset.service.cli.parsers import add_command
from certiset.service.cli.predictors import print_monitor

_EXAMPLES = f"""examples:
  certiset monitor pred-1f0c...
  certiset monitor pred-1f0c... --json

Truths are reported by 'certiset outcomes'.

{EXIT_CODES}
"""


def register(subparsers: Any) -> None:
    parser = add_command(
        subparsers,
        "monitor",
        "Says whether the outcomes that were reported for a predictor contradict its certificate.",
        _EXAMPLES,
    )
    parser.add_argument("id", metavar="ID", help="of the predictor")
    add_connection(parser)
    parser.set_defaults(run=connected(print_monitor))
