"""``certiset jobs``: calibrations as the operator sees them, straight from the database."""

import argparse
import json
import sys
import time
from collections.abc import Callable
from typing import Any

from core.errors import CertisetError, first_line
from core.store import Store
from core.store.errors import TRANSIENT
from core.store.records import FINISHED, STATUSES, Calibration
from service.commands.errors import CommandError
from service.commands.settings import add_home, open_existing_store, read_settings
from service.progress_bar import progress_line
from service.queue import TaskQueue
from service.shapes import calibration_json

_EXAMPLES = """examples:
  certiset jobs list --status running
  certiset jobs watch cal-01jd...
  certiset jobs cancel cal-01jd...
  certiset jobs retry cal-01jd...

exit codes: 0 done (for watch: the calibration succeeded), 1 it failed or was cancelled, 2 bad input
"""
_POLL_SECONDS = 0.25


def register(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "jobs",
        description="Calibrations of all tenants, read from the database: for operators.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, help_text, action in (
        ("list", "newest first", _list),
        ("show", "all about one", _show),
        ("watch", "a live bar until it ends", _watch),
        ("cancel", "stop it; a running fit ends within seconds", _cancel),
        ("retry", "queue a failed or cancelled one again", _retry),
    ):
        child = actions.add_parser(name, help=help_text, description=help_text.capitalize() + ".")
        add_home(child)
        child.add_argument("--json", action="store_true", help="print JSON")
        if name == "list":
            child.add_argument("--status", choices=STATUSES, help="only those")
            child.add_argument("--limit", type=int, default=20, metavar="N", help="at most so many (default 20)")
        else:
            child.add_argument("id", metavar="ID", help="the calibration's id")
        child.set_defaults(run=_runner(action))


def _runner(action: Callable[[argparse.Namespace, Store], int]) -> Callable[[argparse.Namespace], int]:
    def run(options: argparse.Namespace) -> int:
        store = open_existing_store(read_settings(options))
        try:
            return action(options, store)
        except CertisetError as error:
            raise CommandError(str(error)) from None
        except TRANSIENT as error:
            raise CommandError(f"The database cannot be reached: {first_line(error)}") from None
        finally:
            store.close()

    return run


def _list(options: argparse.Namespace, store: Store) -> int:
    if not 1 <= options.limit <= 1000:
        raise CommandError("--limit must be from 1 to 1000.")
    with store.reading() as work:
        found = work.calibrations.list(None, status=options.status, limit=options.limit).items
    if options.json:
        print(json.dumps([calibration_json(record) for record in found], indent=2))
        return 0
    if not found:
        print("There are no calibrations." if options.status is None else f"None is {options.status}.")
    for record in found:
        fraction = (record.progress or {}).get("fraction", 0.0)
        done = f"{100 * fraction:3.0f} %"
        print(f"{record.id}  {record.status:<9}  {done}  attempt {record.attempts}  {record.name}".rstrip())
    return 0


def _show(options: argparse.Namespace, store: Store) -> int:
    _print(_find(store, options.id), options)
    return 0


def _watch(options: argparse.Namespace, store: Store) -> int:
    live = sys.stdout.isatty() and not options.json
    seen: tuple[str, int, bool] | None = None
    while True:
        try:
            record = _find(store, options.id)
        except TRANSIENT:
            # The database restarts; the job goes on, and so does the watching.
            time.sleep(1)
            continue
        if (record.status, record.reports, record.cancel_requested) != seen:
            seen = (record.status, record.reports, record.cancel_requested)
            text = json.dumps(calibration_json(record)) if options.json else progress_line(calibration_json(record))
            print(f"\r\x1b[2K{text}" if live else text, end="" if live else "\n", flush=True)
        if record.status in FINISHED:
            break
        time.sleep(_POLL_SECONDS)
    if live:
        print()
    return 0 if record.status == "succeeded" else 1


def _cancel(options: argparse.Namespace, store: Store) -> int:
    with store.writing() as work:
        record = work.calibrations.cancel(options.id)
    _print(record, options)
    return 0


def _retry(options: argparse.Namespace, store: Store) -> int:
    with store.writing() as work:
        record = work.calibrations.retry(options.id)
    queue = TaskQueue(store.settings)
    queue.announce(record.id)
    queue.close()
    _print(record, options)
    return 0


def _find(store: Store, id: str) -> Calibration:
    with store.reading() as work:
        record = work.calibrations.find(id)
    if record is None:
        raise CommandError(f"There is no calibration {id}.")
    return record


def _print(record: Calibration, options: argparse.Namespace) -> None:
    if options.json:
        print(json.dumps(calibration_json(record), indent=2))
        return
    print(progress_line(calibration_json(record)))
    for name, value in calibration_json(record).items():
        if value is not None and name not in ("id", "status", "progress", "error"):
            print(f"  {name:<16}  {json.dumps(value) if isinstance(value, dict) else value}")
