"""``certiset predict``: prediction sets from a server."""

import argparse
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from certiset.core.data import read_inputs, suffix_list
from certiset.core.data.group_labels import GroupLabels, complete
from certiset.core.data.reading import read_frame
from certiset.core.errors import DataError, FileKindError
from certiset.service.cli.connection import EXIT_CODES, add_connection, connected
from certiset.service.cli.errors import CommandError
from certiset.service.cli.output import print_json
from certiset.service.cli.parsers import add_command
from certiset.service.client import Client, Prediction

_EXAMPLES = f"""examples:
  certiset predict pred-01jd... --x 0.1,0.2
  certiset predict pred-01jd... --x 0.1,0.2 --member 3 --json
  certiset predict pred-01jd... --x 0.1,0.2 --group north
  certiset predict pred-01jd... --x 0.1,0.2 --alpha 0.05
  certiset predict pred-01jd... --file rows.csv
  certiset predict pred-01jd... --file rows.npz --json > sets.json

{EXIT_CODES}
"""


def register(subparsers: Any) -> None:
    parser = add_command(
        subparsers,
        "predict",
        "Prints the set for one input, or for each row of a file, with the member that computed it.",
        _EXAMPLES,
    )
    parser.add_argument("predictor", metavar="PREDICTOR", help="the predictor's id, or the name of a deployment")
    given = parser.add_mutually_exclusive_group(required=True)
    given.add_argument("--x", metavar="NUMBERS", help="one input, as comma-separated numbers")
    given.add_argument("--file", type=Path, metavar="FILE", help=f"many inputs: {suffix_list()}")
    parser.add_argument(
        "--target", default="y", help="column that is not an input, or several, comma-separated (default y, if present)"
    )
    parser.add_argument("--member", type=int, metavar="M", help="replay this member instead of drawing one")
    parser.add_argument(
        "--case",
        metavar="NAME",
        help="your name for the case: its outcome counts once, and it has the same member again",
    )
    parser.add_argument(
        "--group",
        action="append",
        metavar="VALUE",
        help="of the input, where every group has its own threshold; once for each column that crosses. Of a file the "
        "columns say it",
    )
    parser.add_argument(
        "--alpha", type=float, metavar="NUMBER", help="the level, where the promise is for all alpha at once"
    )
    add_connection(parser)
    parser.set_defaults(run=connected(_predict))


def _predict(options: argparse.Namespace, client: Client) -> int:
    if options.x is not None:
        one = client.predict_set(
            options.predictor,
            _numbers(options.x),
            member=options.member,
            cases=options.case,
            groups=options.group,
            alpha=options.alpha,
        )
        print_json(one.to_json()) if options.json else print(_line(one))
        return 0
    about = client.certificates.get(client.predictors.get(options.predictor).certificate_id)
    columns = (about.document.get("data") or {}).get("columns")
    rows = _rows(options.file, options.target, columns)
    groups = _groups(options, about.document, len(rows))
    many = client.predict_set(
        options.predictor, rows, member=options.member, cases=options.case, groups=groups, alpha=options.alpha
    )
    if options.json:
        print_json(many.to_json())
    else:
        for prediction in many:
            print(_line(prediction))
    return 0


def _line(prediction: Prediction) -> str:
    group = prediction.group if isinstance(prediction.group, str) else ", ".join(prediction.group or ())
    words = {"unknown_group": "  unknown group", "too_few_rows": "  a group with too few rows"}
    whole = words.get(prediction.whole_space or "", "")
    return f"{prediction.set.text}  member {prediction.member}{f'  group {group}' if group else ''}{whole}"


def _groups(options: argparse.Namespace, document: dict[str, Any], rows: int) -> Any:
    """Of each row of a file: one for all, or what its columns say."""
    if options.group is not None:
        return [options.group if len(options.group) > 1 else options.group[0]] * rows
    named = (document.get("options") or {}).get("groups")
    if document.get("groups") is None or named in (None, "class"):
        return None
    frame = read_frame(options.file, options.target)
    columns = [frame.column(name, "groups") for name in ([named] if isinstance(named, str) else named)]
    labels = GroupLabels.of([complete(column, "groups") for column in columns])
    names = [name[0] if len(name) == 1 else list(name) for name in labels.names]
    return [names[code] for code in labels.codes.tolist()]


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise CommandError(f"--x must be comma-separated numbers, not {text!r}.") from None


def _rows(file: Path, target: str, columns: list[str] | None) -> NDArray[Any]:
    """Of a table the columns that the predictor knows, in their order."""
    try:
        x = read_inputs(file, target, columns=columns)
    except FileKindError:
        raise
    except DataError as error:
        raise CommandError(f"{file}: {error}") from None
    return x[:, None] if x.ndim == 1 else x
