"""``certiset datasets``: uploads, lists and deletes calibration data."""

import argparse
from pathlib import Path
from typing import Any

from certiset.service.cli.connection import EXIT_CODES, add_action, add_records
from certiset.service.cli.output import View
from certiset.service.cli.parsers import add_actions, add_command
from certiset.service.client import Client, Dataset

_EXAMPLES = f"""examples:
  certiset datasets upload calibration.npz
  certiset datasets upload houses.csv --target price --name "houses, spring"
  certiset datasets list --json
  certiset datasets delete ds-01jd...

{EXIT_CODES}
"""


def register(subparsers: Any) -> None:
    parser = add_command(
        subparsers,
        "datasets",
        "Calibration data: files with inputs x and true values y that no model was trained on.",
        _EXAMPLES,
    )
    actions = add_actions(parser)
    upload = add_action(
        actions, "upload", "upload a file; uploading the same file again gives the same dataset", _upload
    )
    upload.add_argument("file", type=Path, metavar="FILE", help=".npz with arrays x and y, .csv, .parquet or .json")
    upload.add_argument("--name", default="", help="name of the dataset (default: the file's name)")
    upload.add_argument(
        "--target",
        default="y",
        help="column of y, or several, comma-separated (default y); '' for inputs without truths",
    )
    add_records(
        actions,
        _VIEW,
        lambda client: client.datasets,
        "delete the data; predictors and certificates made with them remain",
    )


def _upload(options: argparse.Namespace, client: Client) -> int:
    made = client.datasets.upload(options.file, name=options.name, target=options.target)
    return _VIEW.print_line(made, options)


def _line(dataset: Dataset) -> str:
    shape = "x".join(str(side) for side in dataset.x_shape) or "1"
    return f"{dataset.id}  {dataset.rows} rows of {shape} with {dataset.y_kind}  {dataset.name}"


_VIEW = View("datasets", _line, Dataset.model_dump)
