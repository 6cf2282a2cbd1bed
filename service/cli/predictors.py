"""``certiset predictors``: lists, shows and deletes what is served."""

import argparse
from typing import Any

from certiset.service.cli.connection import EXIT_CODES, add_delete, add_list, add_show
from certiset.service.cli.output import View
from certiset.service.client import Predictor

_EXAMPLES = f"""examples:
  certiset predictors list
  certiset predictors show pred-1f0c...
  certiset predictors delete pred-1f0c...

{EXIT_CODES}
"""


def register(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "predictors",
        description="Predictors: the results of calibrations, which serve sets.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    add_list(actions, _VIEW, lambda client: client.predictors)
    add_show(actions, _VIEW, lambda client: client.predictors)
    add_delete(
        actions,
        "stop serving it and delete its members; its certificate remains, marked as withdrawn",
        lambda client, id: client.predictors.delete(id),
    )


def _line(predictor: Predictor) -> str:
    what = f"{predictor.task} by {predictor.score} with {predictor.members} members"
    return f"{predictor.id}  {what}  {predictor.certificate_status}  {predictor.name}"


_VIEW = View("predictors", _line, Predictor.model_dump)
