"""``certiset migrate``: brings the database to the schema of this version."""

import argparse
import json
from typing import Any

from certiset.core.store import Database
from certiset.core.store.migrate import migrate
from certiset.service.cli.deployment import add_home, explained_database, read_settings
from certiset.service.cli.parsers import add_command

_EXAMPLES = """examples:
  certiset migrate
  CERTISET_DATABASE_URL=postgresql://user:secret@host/certiset certiset migrate

exit codes: 0 done, 2 bad input, or the database cannot be reached
"""


def register(subparsers: Any) -> None:
    parser = add_command(
        subparsers,
        "migrate",
        "Creates or upgrades the tables. Safe to run twice, and from several machines at once: the first "
        "one does the work and the others wait. The embedded SQLite database is migrated automatically.",
        _EXAMPLES,
    )
    add_home(parser)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a sentence")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    settings = read_settings(options)
    with explained_database():
        before, after = migrate(Database(settings.database))
    if options.json:
        print(json.dumps({"before": before, "after": after}))
    elif before == after:
        print(f"The database is at revision {after}: nothing to do.")
    else:
        print(f"The database was migrated from {f'revision {before}' if before else 'empty'} to revision {after}.")
    return 0
