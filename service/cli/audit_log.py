"""``certiset audit-log``: exports a server's audit log as JSON lines."""

import argparse
from typing import Any

from certiset.service.cli.connection import EXIT_CODES, add_connection, connected
from certiset.service.cli.parsers import add_command
from certiset.service.client import Client

_EXAMPLES = f"""examples:
  certiset audit-log > audit.jsonl
  certiset audit-log --since 2026-01-01T00:00:00Z --until 2026-02-01T00:00:00Z
  certiset audit-log --action dataset.delete
  certiset audit-log --object ds-01jd...

A key with the scope admin sees its own tenant, one with the scope operator all of them.

{EXIT_CODES}
"""


def register(subparsers: Any) -> None:
    parser = add_command(
        subparsers,
        "audit-log",
        "Prints who changed what, and which calls were refused, newest first: JSON lines, one per entry, "
        "with --json or without.",
        _EXAMPLES,
    )
    parser.add_argument("--action", metavar="NAME", help="only this action, such as dataset.delete")
    parser.add_argument("--object", metavar="ID", help="only what was done to the record with this id")
    parser.add_argument("--by", metavar="KEY_ID", help="only what was done with the key that has this id")
    parser.add_argument("--tenant", metavar="NAME", help="only this tenant (for operators)")
    parser.add_argument("--since", metavar="TIME", help="only entries of that time or later")
    parser.add_argument("--until", metavar="TIME", help="only entries before that time")
    add_connection(parser)
    parser.set_defaults(run=connected(_export))


def _export(options: argparse.Namespace, client: Client) -> int:
    for entry in client.audit.list(
        action=options.action,
        object=options.object,
        key=options.by,
        tenant=options.tenant,
        since=options.since,
        until=options.until,
    ):
        print(entry.model_dump_json())
    return 0
