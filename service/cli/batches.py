"""``certiset batches``: the sets of all rows of a dataset, computed by the server's workers into one file."""

import argparse
import sys
from pathlib import Path
from typing import Any

from certiset.service.cli.connection import add_action, add_records
from certiset.service.cli.errors import CommandError, written_to
from certiset.service.cli.output import View, print_json
from certiset.service.cli.parsers import add_actions, add_command
from certiset.service.client import Batch, Client, Progress
from certiset.service.progress_bar import LiveLine, bar

_EXAMPLES = """examples:
  certiset batches start --predictor pred-1f0c... --dataset ds-01jd... -o sets.parquet
  certiset batches start --predictor triage --dataset ds-01jd... --cases patient
  certiset batches list
  certiset batches download batch-01jd... -o sets.parquet
  certiset batches delete batch-01jd...

exit codes: 0 done, 1 the batch failed or was cancelled, 2 bad input or refused by the server, 3 the server cannot be
reached
"""
_FAILED = 1


def register(subparsers: Any) -> None:
    parser = add_command(
        subparsers, "batches", "Sets for all rows of a dataset that was uploaded, as one Parquet file.", _EXAMPLES
    )
    actions = add_actions(parser)
    start = add_action(actions, "start", "ask for the sets of all rows; with -o wait for them", _start)
    start.add_argument("--predictor", required=True, metavar="ID", help="its id, or the name of a deployment")
    start.add_argument("--dataset", required=True, metavar="ID", help="the id of the rows")
    start.add_argument("--alpha", type=float, metavar="A", help="the level, where the promise is for all alpha")
    start.add_argument("--cases", metavar="COLUMN", help="the column that names the case of each row")
    start.add_argument("--name", default="", help="name of the batch")
    start.add_argument("-o", "--output", type=Path, metavar="FILE", help="wait, and write the sets there")
    add_records(actions, _VIEW, lambda client: client.batches, "delete one that has ended, with its file")
    download = add_action(actions, "download", "write the sets of one that has succeeded", _download)
    download.add_argument("id", metavar="ID", help="its id")
    download.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="where to write them")
    cancel = add_action(actions, "cancel", "cancel one; a running one stops within seconds", _cancel)
    cancel.add_argument("id", metavar="ID", help="its id")


def _start(options: argparse.Namespace, client: Client) -> int:
    batch = client.batches.start(
        options.predictor, options.dataset, alpha=options.alpha, cases=options.cases, name=options.name
    )
    if options.output is None:
        return _VIEW.print_line(batch, options)
    line = LiveLine(sys.stderr)

    def told(progress: Progress) -> None:
        line.show(f"{batch.id}  {bar(progress)}", progress.phase)

    ended = client.batches.wait(batch.id, told)
    line.end()
    if ended.status != "succeeded":
        raise CommandError(f"{batch.id} {ended.status}{f': {ended.error}' if ended.error else '.'}", _FAILED)
    return _write(options, client, ended.id)


def _download(options: argparse.Namespace, client: Client) -> int:
    return _write(options, client, options.id)


def _write(options: argparse.Namespace, client: Client, id: str) -> int:
    with written_to(options.output):
        client.batches.download(id, options.output)
    if options.json:
        print_json({"id": id, "file": str(options.output), "bytes": options.output.stat().st_size})
    else:
        print(f"The sets of {id} are in {options.output}.")
    return 0


def _cancel(options: argparse.Namespace, client: Client) -> int:
    return _VIEW.print_line(client.batches.cancel(options.id), options)


def _line(batch: Batch) -> str:
    what = f"{batch.rows:,} rows of {batch.dataset_id} by {batch.predictor_id}"
    return f"{batch.id}  {batch.status:<9}  {what}  {batch.name}"


_VIEW = View("batches", _line, Batch.model_dump)
