"""``certiset calibrate``: a fit on a server, watched until it ends."""

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

from service.client import Calibration, Client, Progress
from service.commands.connection import add_connection, connected, print_json
from service.commands.errors import INTERRUPTED, CommandError
from service.progress_bar import LiveLine, bar, progress_line

_EXAMPLES = """examples:
  certiset calibrate --dataset calibration.npz --model mod-01jd... --alpha 0.1
  certiset calibrate --dataset ds-01jd... --model mod-01jd... --method standard --detach
  certiset calibrate --dataset ds-01jd... --model mod-01jd... --score raps --set score.penalty=0.1 --set prior.steps=500
  certiset calibrate --watch cal-01jd...
  certiset calibrate --cancel cal-01jd...

Ctrl-C stops the watching and not the fit. All options, for --set, are those of POST /calibrations.

exit codes: 0 the calibration succeeded (with --detach: is queued), 1 it failed or was cancelled, 2 bad input or refused
by the server, 3 the server cannot be reached, 130 Ctrl-C
"""
_NAMED = ("alpha", "delta", "gamma", "method", "guarantee", "bound", "members", "seed", "name")


def register(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "calibrate",
        description="Queues a fit, shows its progress, and ends with the certificate's sentence and the predictor.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--dataset", metavar="ID|FILE", help="a dataset's id, or a file that is uploaded first")
    what.add_argument("--watch", metavar="ID", help="a calibration that was started before")
    what.add_argument("--cancel", metavar="ID", help="stop this calibration")
    parser.add_argument("--model", metavar="ID", help="the model's id")
    parser.add_argument("--target", default="y", help="column of y in FILE, or several with commas (default y)")
    parser.add_argument("--alpha", type=float, help="promised miscoverage (default 0.1)")
    parser.add_argument("--delta", type=float, help="chance that the promise fails (default 0.05)")
    parser.add_argument("--gamma", type=float, help="chance that the promised size fails (default 0.05)")
    parser.add_argument("--method", help="pac_bayes (default), learned or standard")
    parser.add_argument("--guarantee", help="per_draw (default) or posterior")
    parser.add_argument("--bound", help="chernoff (default), seeger, vovk_2a or vovk_2b")
    parser.add_argument("--score", help="such as log_prob, raps, scaled_residual, cqr (default: by the model's task)")
    parser.add_argument("--members", type=int, help="stored (theta, tau) pairs (default 32)")
    parser.add_argument("--seed", type=int, help="of all randomness (default 0)")
    parser.add_argument("--name", help="what to call it")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="any other option, as JSON")
    parser.add_argument("--idempotency-key", metavar="TEXT", help="the same request under the same key runs once")
    parser.add_argument("--detach", action="store_true", help="do not wait")
    add_connection(parser)
    parser.set_defaults(run=connected(_calibrate))


def _calibrate(options: argparse.Namespace, client: Client) -> int:
    if options.cancel:
        return _say(client.calibrations.cancel(options.cancel), options)
    if options.watch:
        return _wait(client, client.calibrations.get(options.watch), options)
    if not options.model:
        raise CommandError("--model is needed: the id of the model to calibrate.")
    started = client.calibrations.start(
        _dataset(client, options), options.model, idempotency_key=options.idempotency_key, **fit_options(options)
    )
    if options.detach:
        code = _say(started, options)
        _how_to_watch(started.id, options.url)
        return code
    return _wait(client, started, options)


def fit_options(options: argparse.Namespace) -> dict[str, Any]:
    """What the user gave, as POST /calibrations takes it; --set may reach into an object with a dot."""
    chosen = {name: getattr(options, name) for name in _NAMED if getattr(options, name) is not None}
    if options.score is not None:
        chosen["score"] = {"kind": options.score}
    for setting in options.set:
        path, equals, text = setting.partition("=")
        if not equals or not re.fullmatch(r"\w+(\.\w+)?", path):
            raise CommandError(f"--set takes KEY=VALUE, such as prior.steps=500, not {setting!r}.")
        outer, _, inner = path.partition(".")
        if not inner:
            chosen[outer] = _value(text)
        elif isinstance(chosen.setdefault(outer, {}), dict):
            chosen[outer][inner] = _value(text)
        else:
            raise CommandError(f"--set {path}: {outer} is given as a whole already.")
    return chosen


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _dataset(client: Client, options: argparse.Namespace) -> str:
    given = str(options.dataset)
    if re.fullmatch(r"ds-[0-9a-z]+", given) and not Path(given).exists():
        return given
    return client.datasets.upload(given, target=options.target).id


def _wait(client: Client, started: Calibration, options: argparse.Namespace) -> int:
    line = LiveLine(sys.stderr)

    def show(progress: Progress) -> None:
        line.show(f"{started.id}  {bar(progress.model_dump())}", progress.phase)

    try:
        if not started.finished:
            line.show(progress_line(started.model_dump()), started.status)
        ended = client.calibrations.wait(started.id, show)
    except KeyboardInterrupt:
        line.end()
        print("The calibration goes on.", file=sys.stderr)
        _how_to_watch(started.id, options.url)
        return INTERRUPTED
    line.end(progress_line(ended.model_dump()))
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


def _say(calibration: Calibration, options: argparse.Namespace) -> int:
    state = calibration.model_dump()
    print_json(state) if options.json else print(progress_line(state))
    return 0


def _how_to_watch(id: str, url: str | None) -> None:
    where = f" --url {url}" if url else ""
    print(f"Watch it with: certiset calibrate --watch {id}{where}", file=sys.stderr)
