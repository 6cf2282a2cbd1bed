"""``certiset outcomes``: reports what came true, corrects it, annuls it."""

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from certiset.service.cli.connection import EXIT_CODES, add_action
from certiset.service.cli.errors import CommandError
from certiset.service.cli.output import print_json
from certiset.service.cli.parsers import add_actions, add_command
from certiset.service.cli.truth_files import Line, read_truths, truth_of
from certiset.service.client import ApiError, Client, OutcomesCounted

_EXAMPLES = f"""examples:
  certiset outcomes report PREDICTION_ID 3
  certiset outcomes report PREDICTION_ID 0.5,-1.2
  certiset outcomes report --file truths.csv
  certiset outcomes correct PREDICTION_ID 4
  certiset outcomes annul PREDICTION_ID

'certiset predict --json' prints prediction ids, 'certiset monitor ID' the verdict.

{EXIT_CODES}
"""
_DASHED = re.compile(r"-[A-Za-z0-9_-]{40,}|-[0-9.][0-9.,eE+-]*")
"""prediction ids and truths that look like options"""
_FILE = "many: .csv or .jsonl, with prediction_id and y; .jsonl may have x, the input that was asked, again"
_PLACE = re.compile(r"outcomes\.(\d+)\.")


def register(subparsers: Any) -> None:
    parser = add_command(
        subparsers,
        "outcomes",
        "Outcomes: the truths for sets that were served, from which the monitor judges the certificate.",
        _EXAMPLES,
    )
    actions = add_actions(parser, _with_dashes(type(parser)))
    report = add_action(actions, "report", "report one truth, or those of a file; each counts once", _report)
    report.add_argument("id", nargs="?", type=str.strip, metavar="PREDICTION_ID", help="names the set")
    report.add_argument(
        "--file",
        type=Path,
        metavar="FILE",
        help=_FILE,
    )
    _add_truth(report, nargs="?")
    correct = add_action(actions, "correct", "replace a truth that was reported; the verdict is reconsidered", _correct)
    annul = add_action(
        actions, "annul", "withdraw a truth that was reported, hit or miss; the verdict is reconsidered", _annul
    )
    for child in (correct, annul):
        child.add_argument("id", type=str.strip, metavar="PREDICTION_ID", help="whose outcome was reported")
    _add_truth(correct)


def _with_dashes(parser: type[argparse.ArgumentParser]) -> type[argparse.ArgumentParser]:
    """A parser that takes ids and numbers that begin with a dash as what they are."""

    class Parser(parser):  # type: ignore[valid-type, misc]
        def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
            # A space in front, which is taken away again, says that it is no option.
            given = [f" {arg}" if _DASHED.fullmatch(arg) else arg for arg in args or ()]
            return super().parse_known_args(given, namespace)

    return Parser


def _add_truth(parser: argparse.ArgumentParser, **how: Any) -> None:
    parser.add_argument(
        "truth", metavar="TRUTH", help="a label or a number, or comma-separated numbers for a vector", **how
    )


def _report(options: argparse.Namespace, client: Client) -> int:
    if options.file is None:
        if options.truth is None:
            raise CommandError("Give a prediction id and its truth, or --file FILE.")
        counted = client.outcomes.report([(options.id, truth_of(options.truth, "TRUTH"))])
    elif options.id is not None:
        raise CommandError("Give a prediction id and its truth, or --file FILE, and not both.")
    else:
        counted = _of_file(options.file, client)
    print_json(counted.model_dump()) if options.json else print(_text(counted))
    return 0


def _of_file(file: Path, client: Client) -> OutcomesCounted:
    lines = read_truths(file)
    try:
        return client.outcomes.report(line.outcome for line in lines)
    except ApiError as error:
        place = _place(error, lines)
        if place is None:
            raise
        raise CommandError(f"{file}, line {place}: {error}") from None


def _place(error: ApiError, lines: Sequence[Line]) -> int | None:
    """The line of the file that was refused, if it was one."""
    found = _PLACE.match(error.errors[0].where) if error.errors else None
    return None if found is None or int(found[1]) >= len(lines) else lines[int(found[1])].number


def _text(counted: OutcomesCounted) -> str:
    parts = [f"{counted.counted:,} counted"]
    if counted.repeated:
        parts.append(f"{counted.repeated:,} known before, by their prediction or their case")
    if counted.replayed:
        parts.append(f"{counted.replayed:,} of replays, which do not count")
    if counted.collected:
        parts.append(f"{counted.collected:,} for the next predictor")
    inside = sum(counted.covered)
    return f"{'; '.join(parts)}. {inside:,} of {len(counted.covered):,} sets contained the truth."


def _correct(options: argparse.Namespace, client: Client) -> int:
    state = client.outcomes.correct(options.id, truth_of(options.truth, "TRUTH"))
    if options.json:
        print_json(state.model_dump())
    else:
        inside = "contained" if state.covered else "did not contain"
        counts = "" if state.state == "counted" else " It does not count: another outcome of the same case does."
        print(f"Corrected: the set {inside} the truth.{counts}\n{_verdict(client, state.predictor_id)}")
    return 0


def _annul(options: argparse.Namespace, client: Client) -> int:
    client.outcomes.annul(options.id)
    print_json({"annulled": options.id}) if options.json else print("Annulled: this outcome no longer counts.")
    return 0


def _verdict(client: Client, predictor: str) -> str:
    return f"The certificate of {predictor} is {client.predictors.monitor(predictor).status}."
