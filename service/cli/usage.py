"""``certiset usage``: what the key's tenant has, and may have."""

import argparse
from collections.abc import Mapping
from typing import Any

from certiset.service.cli.connection import EXIT_CODES, add_connection, connected
from certiset.service.cli.output import print_json
from certiset.service.cli.parsers import add_command
from certiset.service.client import Client

_EXAMPLES = f"""examples:
  certiset usage
  certiset usage --json

{EXIT_CODES}
"""


def register(subparsers: Any) -> None:
    parser = add_command(
        subparsers, "usage", "What the key's tenant has of everything that is limited, and the limits.", _EXAMPLES
    )
    add_connection(parser)
    parser.set_defaults(run=connected(_show))


def usage_lines(used: Mapping[str, int], limits: Mapping[str, int | None]) -> str:
    """One line for each quota."""
    return "\n".join(
        f"{name.replace('_', ' '):<12}  {used[name]:>15,}  of  {'no limit' if limit is None else f'{limit:,}'}"
        for name, limit in limits.items()
    )


def _show(options: argparse.Namespace, client: Client) -> int:
    usage = client.usage()
    used = usage.model_dump()
    print_json(used) if options.json else print(f"tenant {usage.tenant}\n{usage_lines(used, used['limits'])}")
    return 0
