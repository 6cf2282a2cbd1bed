"""``certiset calibrate``: a fit on a server, watched until it ends."""

import argparse
import re
import sys
from pathlib import Path
from typing import Any

from certiset.service.cli.connection import add_connection, connected
from certiset.service.cli.errors import INTERRUPTED, CommandError
from certiset.service.cli.fit_flags import add_fit_flags, given_options
from certiset.service.cli.output import print_json
from certiset.service.cli.parsers import add_command
from certiset.service.client import Calibration, Client, Progress
from certiset.service.progress_bar import LiveLine, bar, progress_line

_EXAMPLES = """examples:
  certiset calibrate --dataset calibration.npz --model mod-01jd... --alpha 0.1
  certiset calibrate --dataset ds-01jd... --model mod-01jd... --method standard --detach
  certiset calibrate --dataset ds-01jd... --model mod-01jd... --score raps --set score.penalty=0.1 --set prior.steps=500
  certiset calibrate --dataset ds-01jd... --model mod-01jd... --alpha all
  certiset calibrate --dataset rows.csv --model mod-01jd... --weights w --weight-bound 4
  certiset calibrate --dataset ds-01jd... --model mod-01jd... --set prevalences=[0.2,0.8]
  certiset calibrate --watch cal-01jd...
  certiset calibrate --cancel cal-01jd...

Ctrl-C stops watching; the fit keeps running. --set takes all options of POST /calibrations.

exit codes: 0 the calibration succeeded (with --detach: was queued), 1 it failed or was cancelled, 2 bad input or
refused by the server, 3 the server cannot be reached, 130 Ctrl-C
"""


def register(subparsers: Any) -> None:
    parser = add_command(
        subparsers,
        "calibrate",
        "Queues a fit, shows its progress, and prints the certificate's statement and the predictor's id.",
        _EXAMPLES,
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--dataset", metavar="ID|FILE", help="a dataset's id, or a file to upload first")
    what.add_argument("--watch", metavar="ID", help="watch a calibration that was started earlier")
    what.add_argument("--cancel", metavar="ID", help="cancel this calibration")
    parser.add_argument("--model", metavar="ID", help="the model's id")
    parser.add_argument(
        "--target-dataset",
        metavar="ID|FILE",
        help="inputs of another population, without truths: weights for it are estimated",
    )
    parser.add_argument("--target", default="y", help="column of y in FILE, or several, comma-separated (default y)")
    parser.add_argument("--name", help="name of the calibration")
    parser.add_argument("--idempotency-key", metavar="TEXT", help="the same request with the same key runs only once")
    parser.add_argument("--detach", action="store_true", help="do not wait for the end")
    add_connection(parser)
    add_fit_flags(parser)
    parser.set_defaults(run=connected(_calibrate))


def _calibrate(options: argparse.Namespace, client: Client) -> int:
    if options.cancel:
        return _print(client.calibrations.cancel(options.cancel), options)
    if options.watch:
        return _wait(client, client.calibrations.get(options.watch), options)
    if not options.model:
        raise CommandError("--model is required: the id of the model to calibrate.")
    chosen = given_options(options) | ({} if options.name is None else {"name": options.name})
    if options.target_dataset is not None:
        chosen["target_dataset_id"] = _dataset(client, options.target_dataset, None)
    dataset = _dataset(client, options.dataset, options.target)
    started = client.calibrations.start(dataset, options.model, idempotency_key=options.idempotency_key, **chosen)
    if options.detach:
        code = _print(started, options)
        _how_to_watch(started.id, options.url)
        return code
    return _wait(client, started, options)


def _dataset(client: Client, given: str, target: str | None) -> str:
    if re.fullmatch(r"ds-[0-9a-z]+", given) and not Path(given).exists():
        return given
    return client.datasets.upload(given, target=target).id


def _wait(client: Client, started: Calibration, options: argparse.Namespace) -> int:
    line = LiveLine(sys.stderr)

    def show(progress: Progress) -> None:
        line.show(f"{started.id}  {bar(progress)}", progress.phase)

    try:
        if not started.finished:
            line.show(progress_line(started), started.status)
        ended = client.calibrations.wait(started.id, show)
    except KeyboardInterrupt:
        line.end()
        print("The calibration is still running.", file=sys.stderr)
        _how_to_watch(started.id, options.url)
        return INTERRUPTED
    line.end(progress_line(ended))
    if ended.status != "succeeded":
        if options.json:
            print_json(ended.model_dump())
        return 1
    assert ended.certificate_id is not None
    statement = client.certificates.get(ended.certificate_id).statement
    if options.json:
        print_json({**ended.model_dump(), "statement": statement})
    else:
        print(f"{statement}\npredictor    {ended.predictor_id}\ncertificate  {ended.certificate_id}")
    return 0


def _print(calibration: Calibration, options: argparse.Namespace) -> int:
    print_json(calibration.model_dump()) if options.json else print(progress_line(calibration))
    return 0


def _how_to_watch(id: str, url: str | None) -> None:
    where = f" --url {url}" if url else ""
    print(f"Watch it with: certiset calibrate --watch {id}{where}", file=sys.stderr)
