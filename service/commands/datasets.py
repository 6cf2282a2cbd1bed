"""``certiset datasets``: calibration data, sent to a server, listed and deleted."""

import argparse
from pathlib import Path
from typing import Any

from service.client import Client, Dataset
from service.commands.connection import EXIT_CODES, add_action, print_fields, print_json

_EXAMPLES = f"""examples:
  certiset datasets upload calibration.npz
  certiset datasets upload houses.csv --target price --name "houses, spring"
  certiset datasets list --json
  certiset datasets delete ds-01jd...

{EXIT_CODES}
"""


def register(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "datasets",
        description="Calibration data: files with inputs x and truths y that no model was trained on.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    upload = add_action(actions, "upload", "send a file; the same bytes again are the same dataset", _upload)
    upload.add_argument("file", type=Path, metavar="FILE", help=".npz with arrays x and y, .csv, .parquet or .json")
    upload.add_argument("--name", default="", help="what to call it (default: the file's name)")
    upload.add_argument("--target", default="y", help="column of y, or several with commas (default y)")
    add_action(actions, "list", "all of them, newest first", _list)
    show = add_action(actions, "show", "all about one", _show)
    delete = add_action(
        actions, "delete", "remove the data; predictors and certificates made with them go on working", _delete
    )
    for child in (show, delete):
        child.add_argument("id", metavar="ID", help="the dataset's id")


def _upload(options: argparse.Namespace, client: Client) -> int:
    made = client.datasets.upload(options.file, name=options.name, target=options.target)
    print_json(made.model_dump()) if options.json else print(_line(made))
    return 0


def _list(options: argparse.Namespace, client: Client) -> int:
    found = list(client.datasets.list())
    if options.json:
        print_json([dataset.model_dump() for dataset in found])
    elif not found:
        print("There are no datasets.")
    else:
        for dataset in found:
            print(_line(dataset))
    return 0


def _show(options: argparse.Namespace, client: Client) -> int:
    found = client.datasets.get(options.id).model_dump()
    print_json(found) if options.json else print_fields(found)
    return 0


def _delete(options: argparse.Namespace, client: Client) -> int:
    client.datasets.delete(options.id)
    print_json({"deleted": options.id}) if options.json else print(f"{options.id} is deleted.")
    return 0


def _line(dataset: Dataset) -> str:
    shape = "x".join(str(side) for side in dataset.x_shape) or "1"
    return f"{dataset.id}  {dataset.rows} rows of {shape} with {dataset.y_kind}  {dataset.name}".rstrip()
