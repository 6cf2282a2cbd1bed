"""``certiset jobs``: calibrations as the operator sees them, straight from the database."""

import argparse
import json
import sys
import time
from collections.abc import Callable
from typing import Any

from celery import Celery

from certiset.core.errors import UnavailableError
from certiset.core.jobs.announcer import Announcer
from certiset.core.jobs.calibrations import cancel_calibration, retry_calibration
from certiset.core.jobs.views import calibration_resource
from certiset.core.resources import Calibration
from certiset.core.store import Store
from certiset.core.store.records import STATUSES
from certiset.core.store.records import Calibration as CalibrationRecord
from certiset.service.cli.deployment import add_home, existing_store, read_settings
from certiset.service.cli.errors import CommandError
from certiset.service.cli.output import View, fields_text
from certiset.service.cli.parsers import add_actions, add_command
from certiset.service.progress_bar import LiveLine, progress_line

_EXAMPLES = """examples:
  certiset jobs list --status running
  certiset jobs watch cal-01jd...
  certiset jobs cancel cal-01jd...
  certiset jobs retry cal-01jd...

exit codes: 0 done (for watch: the calibration succeeded), 1 it failed or was cancelled, 2 bad input
"""
_POLL_SECONDS = 0.25
_SHOWN_IN_THE_LINE = ("id", "status", "progress", "error")


def register(subparsers: Any) -> None:
    parser = add_command(
        subparsers, "jobs", "Calibrations of all tenants, read from the database: for operators.", _EXAMPLES
    )
    actions = add_actions(parser)
    for name, help_text, action in (
        ("list", "list calibrations, newest first", _list),
        ("show", "show one in full", _show),
        ("watch", "show a progress bar until it ends", _watch),
        ("cancel", "cancel it; a running fit stops within seconds", _cancel),
        ("retry", "requeue a failed or cancelled one", _retry),
    ):
        child = actions.add_parser(name, help=help_text, description=help_text.capitalize() + ".")
        add_home(child)
        child.add_argument("--json", action="store_true", help="print JSON")
        if name == "list":
            child.add_argument("--status", choices=STATUSES, help="only calibrations with this status")
            child.add_argument(
                "--limit", type=int, default=20, metavar="N", help="maximum number of calibrations (default 20)"
            )
        else:
            child.add_argument("id", metavar="ID", help="the calibration's id")
        child.set_defaults(run=_runner(action))


def _runner(action: Callable[[argparse.Namespace, Store], int]) -> Callable[[argparse.Namespace], int]:
    def run(options: argparse.Namespace) -> int:
        with existing_store(read_settings(options)) as store:
            return action(options, store)

    return run


def _list(options: argparse.Namespace, store: Store) -> int:
    if not 1 <= options.limit <= 1000:
        raise CommandError("--limit must be from 1 to 1000.")
    with store.reading() as work:
        found = work.calibrations.list(None, status=options.status, limit=options.limit).items
    none = None if options.status is None else f"No calibration has status {options.status}."
    return _VIEW.print_list(map(calibration_resource, found), options, none)


def _show(options: argparse.Namespace, store: Store) -> int:
    return _VIEW.print_one(calibration_resource(_find(store, options.id)), options)


def _watch(options: argparse.Namespace, store: Store) -> int:
    line = LiveLine(sys.stdout)
    seen: tuple[str, int, bool] | None = None
    while True:
        try:
            record = _find(store, options.id)
        except UnavailableError:
            # The database is restarting; the job keeps running, so keep watching.
            time.sleep(1)
            continue
        state = calibration_resource(record)
        if (record.status, record.reports, record.cancel_requested) != seen:
            seen = (record.status, record.reports, record.cancel_requested)
            if options.json:
                print(json.dumps(state.model_dump()), flush=True)
            elif state.finished:
                line.end(progress_line(state))
            else:
                line.show(progress_line(state), str(seen))
        if state.finished:
            return 0 if state.status == "succeeded" else 1
        time.sleep(_POLL_SECONDS)


def _cancel(options: argparse.Namespace, store: Store) -> int:
    return _VIEW.print_one(calibration_resource(cancel_calibration(store, None, options.id)), options)


def _retry(options: argparse.Namespace, store: Store) -> int:
    announcer = Announcer.connect(store.settings, Celery)
    try:
        record = retry_calibration(store, options.id, announcer)
    finally:
        announcer.close()
    return _VIEW.print_one(calibration_resource(record), options)


def _find(store: Store, id: str) -> CalibrationRecord:
    with store.reading() as work:
        record = work.calibrations.find(id)
    if record is None:
        raise CommandError(f"There is no calibration {id}.")
    return record


def _line(calibration: Calibration) -> str:
    fraction = 0.0 if calibration.progress is None else calibration.progress.fraction
    state = f"{calibration.status:<9}  {100 * fraction:3.0f} %  attempt {calibration.attempts}"
    return f"{calibration.id}  {state}  {calibration.name}"


def _text(calibration: Calibration) -> str:
    rest = {name: value for name, value in calibration.model_dump().items() if name not in _SHOWN_IN_THE_LINE}
    return "\n  ".join([progress_line(calibration), *fields_text(rest).splitlines()])


_VIEW = View("calibrations", _line, Calibration.model_dump, _text)
