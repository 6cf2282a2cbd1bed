"""``certiset migrate``: brings the database to the schema of this version."""

import argparse
import json
from typing import Any

from core.errors import CertisetError, first_line
from core.store import Database
from core.store.errors import TRANSIENT
from core.store.migrating import migrate
from service.commands.errors import CommandError
from service.commands.settings import add_home, read_settings

_EXAMPLES = """examples:
  certiset migrate
  CERTISET_DATABASE_URL=postgresql://user:secret@host/certiset certiset migrate

exit codes: 0 done, 2 bad input, or the database cannot be reached
"""


def register(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "migrate",
        description="Creates or upgrades the tables. Safe to run twice, and from several machines at once: the first "
        "one does the work and the others wait. The embedded SQLite database is migrated without being asked.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_home(parser)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a sentence")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    settings = read_settings(options)
    try:
        before, after = migrate(Database(settings.database))
    except CertisetError as error:
        raise CommandError(str(error)) from None
    except TRANSIENT as error:
        raise CommandError(f"The database cannot be reached: {first_line(error)}") from None
    if options.json:
        print(json.dumps({"before": before, "after": after}))
    elif before == after:
        print(f"The database is at revision {after}: nothing to do.")
    else:
        print(f"The database went from {f'revision {before}' if before else 'empty'} to revision {after}.")
    return 0
