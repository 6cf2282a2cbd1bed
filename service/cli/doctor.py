"""``certiset doctor``: whether a deployment and its machine are fit for service, and what to do if not."""

import argparse
import os
from dataclasses import asdict
from typing import Any

from certiset.core.errors import SettingsError
from certiset.service.cli.deployment import add_home, read_settings
from certiset.service.cli.output import print_json
from certiset.service.cli.parsers import add_command
from certiset.service.doctor import Finding, examine

_EXAMPLES = """examples:
  certiset doctor
  certiset doctor --json
  CERTISET_DATABASE_URL_FILE=/run/secrets/database_url certiset doctor

Run it where the API or a worker will run, as the same user and with the same environment. It changes nothing.

exit codes: 0 nothing failed (warnings do not count), 1 something failed
"""


def register(subparsers: Any) -> None:
    parser = add_command(
        subparsers,
        "doctor",
        "Checks database, broker, artifact store, keys, limits, kernel and devices, one line for each. On "
        "a GPU it runs a small fit there and on the CPU, and compares scores, thresholds and sets.",
        _EXAMPLES,
    )
    add_home(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    found = []
    for finding in _findings(options):
        found.append(finding)
        if not options.json:
            print(f"{finding.state:<7}  {finding.check:<14}  {finding.message}", flush=True)
    failed = [finding for finding in found if finding.state == "failed"]
    if options.json:
        print_json({"healthy": not failed, "findings": [asdict(finding) for finding in found]})
    return 1 if failed else 0


def _findings(options: argparse.Namespace) -> Any:
    try:
        settings = read_settings(options)
    except SettingsError as error:
        return [Finding("settings", "failed", str(error))]
    return examine(settings, os.environ)
