"""``certiset predictors``: lists, shows, downloads and deletes what is served."""

import argparse
from pathlib import Path
from typing import Any

from certiset.service.cli.connection import EXIT_CODES, add_action, add_delete, add_list, add_show
from certiset.service.cli.errors import CommandError
from certiset.service.cli.output import View, print_json
from certiset.service.client import Client, Predictor

_EXAMPLES = f"""examples:
  certiset predictors list
  certiset predictors show pred-1f0c...
  certiset predictors download pred-1f0c... -o predictor.safetensors
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
    download = add_action(actions, "download", "write its members' file, for 'certiset audit'", _download)
    download.add_argument("id", metavar="ID", help="its id")
    download.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="where to write it")
    add_delete(
        actions,
        "stop serving it and delete its members; its certificate remains, marked as withdrawn",
        lambda client, id: client.predictors.delete(id),
    )


def _download(options: argparse.Namespace, client: Client) -> int:
    try:
        client.predictors.download(options.id, options.output)
    except OSError as error:
        raise CommandError(f"{options.output} cannot be written: {error.strerror}.") from None
    if options.json:
        print_json({"id": options.id, "file": str(options.output), "bytes": options.output.stat().st_size})
    else:
        print(f"The file of {options.id} is in {options.output}.")
    return 0


def _line(predictor: Predictor) -> str:
    what = f"{predictor.task} by {predictor.score} with {predictor.members} members"
    return f"{predictor.id}  {what}  {predictor.certificate_status}  {predictor.name}"


_VIEW = View("predictors", _line, Predictor.model_dump)
