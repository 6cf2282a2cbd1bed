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
    monitor = add_action(actions, "monitor", "whether the outcomes that were reported contradict it", _monitor)
    monitor.add_argument("id", metavar="ID", help="its id")


def _download(options: argparse.Namespace, client: Client) -> int:
    with written_to(options.output):
        client.predictors.download(options.id, options.output)
    if options.json:
        print_json({"id": options.id, "file": str(options.output), "bytes": options.output.stat().st_size})
    else:
        print(f"The file of {options.id} is in {options.output}.")
    return 0


def _monitor(options: argparse.Namespace, client: Client) -> int:
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
    for caveat in found.caveats:
        print(f"Caveat: {caveat}")
    return 0


def _line(predictor: Predictor) -> str:
    what = f"{predictor.task} by {predictor.score} with {predictor.members} members"
    return f"{predictor.id}  {what}  {predictor.certificate_status}  {predictor.name}"


_VIEW = View("predictors", _line, Predictor.model_dump)
