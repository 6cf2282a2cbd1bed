"""``certiset predictors``: lists, shows, downloads, watches and deletes what is served."""

import argparse
from pathlib import Path
from typing import Any

from certiset.core.certificate.rounding import at_most, risk
from certiset.service.cli.connection import EXIT_CODES, add_action, add_records
from certiset.service.cli.errors import written_to
from certiset.service.cli.output import View, print_json
from certiset.service.cli.parsers import add_actions, add_command
from certiset.service.client import Client, Predictor

_EXAMPLES = f"""examples:
  certiset predictors list
  certiset predictors show pred-1f0c...
  certiset predictors download pred-1f0c... -o predictor.safetensors
  certiset predictors monitor pred-1f0c...
  certiset predictors levels pred-1f0c... --size 3
  certiset predictors delete pred-1f0c...

{EXIT_CODES}
"""


def register(subparsers: Any) -> None:
    parser = add_command(
        subparsers, "predictors", "Predictors: the results of calibrations, which serve sets.", _EXAMPLES
    )
    actions = add_actions(parser)
    add_records(
        actions,
        _VIEW,
        lambda client: client.predictors,
        "stop serving it and delete its members; its certificate remains, marked as withdrawn",
    )
    download = add_action(actions, "download", "write its members' file, for 'certiset audit'", _download)
    download.add_argument("id", metavar="ID", help="its id")
    download.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="where to write it")
    monitor = add_action(actions, "monitor", "whether the outcomes that were reported contradict it", print_monitor)
    monitor.add_argument("id", metavar="ID", help="its id")
    levels = add_action(actions, "levels", "ranks and sizes by alpha, where the promise is for all alpha", _levels)
    levels.add_argument("id", metavar="ID", help="its id")
    levels.add_argument(
        "--size", type=float, metavar="NUMBER", help="also the smallest alpha at which --share of the sets is no larger"
    )
    levels.add_argument(
        "--share", type=float, default=0.9, metavar="NUMBER", help="of the sets, for --size (default 0.9)"
    )


def _download(options: argparse.Namespace, client: Client) -> int:
    with written_to(options.output):
        client.predictors.download(options.id, options.output)
    if options.json:
        print_json({"id": options.id, "file": str(options.output), "bytes": options.output.stat().st_size})
    else:
        print(f"The file of {options.id} is in {options.output}.")
    return 0


def print_monitor(options: argparse.Namespace, client: Client) -> int:
    """What the monitor of ``options.id`` has seen."""
    found = client.predictors.monitor(options.id)
    if options.json:
        print_json(found.model_dump())
        return 0
    by = f" by {' and '.join(found.contradicted_by)}" if found.contradicted_by else ""
    print(f"{found.certificate_id}  {found.status}{by}: {found.misses:,} misses of {found.outcomes:,} outcomes")
    print(f"at most {risk(found.promised_miscoverage)} misses promised")
    print(f"{found.issued:,} sets issued, {found.reported:,} outcomes reported")
    if found.size is not None and found.size.mean is not None:
        promised, cap = at_most(found.size.promised), f"{found.size.cap:.4g}"
        print(f"mean size {found.size.mean:.4g}, at most {promised} promised (sizes above {cap} count as {cap})")
    for group in found.groups or ():
        alarm = ", contradicted" if group.contradicted else ""
        print(f"group {', '.join(group.name)}: {group.misses:,} misses of {group.outcomes:,} outcomes{alarm}")
    for caveat in found.caveats:
        print(f"Caveat: {caveat}")
    return 0


def _levels(options: argparse.Namespace, client: Client) -> int:
    found = client.predictors.levels(options.id, options.size, options.share)
    if options.json:
        print_json(found.model_dump())
        return 0
    print(f"Every alpha from {found.smallest_alpha:g} on holds at once. Sizes ({found.measure}) are measured;")
    print(f"certified ones hold together, except with probability {risk(found.gamma)}.")
    print(" alpha   rank  alone     size  certified")
    for row in found.items:
        bound = "" if row.size_bound is None else f"{at_most(row.size_bound):>11}"
        print(f"{row.alpha:6g} {row.rank:6d} {row.rank_of_one_alpha:6d} {row.size:8.4g}{bound}")
    if found.answer is not None:
        least = "no alpha of these" if found.answer.alpha is None else f"alpha = {found.answer.alpha:g} on"
        words = f"{100 * found.answer.share:g} % of the sets have a size of at most {found.answer.size:g}"
        print(f"From {least}, {words}, as measured." if found.answer.alpha is not None else f"At {least}, {words}.")
    return 0


def _line(predictor: Predictor) -> str:
    what = f"{predictor.task} by {predictor.score} with {predictor.members} members"
    return f"{predictor.id}  {what}  {predictor.certificate_status}  {predictor.name}"


_VIEW = View("predictors", _line, Predictor.model_dump)
