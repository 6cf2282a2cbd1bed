"""``certiset calibrations``: lists, shows, cancels and deletes the calibrations of the key's tenant."""

import argparse
from typing import Any

from certiset.service.cli.connection import EXIT_CODES, add_action, add_records
from certiset.service.cli.output import View
from certiset.service.cli.parsers import add_actions, add_command
from certiset.service.client import Calibration, Client

_EXAMPLES = f"""examples:
  certiset calibrations list
  certiset calibrations cancel cal-01jd...
  certiset calibrations delete cal-01jd...

{EXIT_CODES}
"""


def register(subparsers: Any) -> None:
    parser = add_command(
        subparsers, "calibrations", "Calibrations that were asked for; 'certiset calibrate' asks for one.", _EXAMPLES
    )
    actions = add_actions(parser)
    add_records(
        actions,
        _VIEW,
        lambda client: client.calibrations,
        "delete the record of one that has ended; its predictor and certificate remain",
    )
    cancel = add_action(actions, "cancel", "cancel one; a running fit stops within seconds", _cancel)
    cancel.add_argument("id", metavar="ID", help="its id")


def _cancel(options: argparse.Namespace, client: Client) -> int:
    return _VIEW.print_line(client.calibrations.cancel(options.id), options)


def _line(calibration: Calibration) -> str:
    return f"{calibration.id}  {calibration.status:<9}  {calibration.predictor_id or ''}  {calibration.name}"


_VIEW = View("calibrations", _line, Calibration.model_dump)
