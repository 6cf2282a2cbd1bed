"""``certiset predict-file``: sets for every row of a file, by a saved predictor and without a server."""

import argparse
import sys
from pathlib import Path
from typing import Any

from certiset.service.cli.output import print_json
from certiset.service.cli.parsers import add_command
from certiset.service.progress_bar import LiveLine

_EXAMPLES = """examples:
  certiset predict-file rows.parquet sets.parquet --predictor saved
  certiset predict-file rows.csv sets.csv --predictor saved --keep id
  certiset predict-file images.parquet sets.parquet --predictor saved --x pixels

A run that was cut off goes on where it was when it is started again.

exit codes: 0 done, 2 bad input, 130 Ctrl-C
"""


def register(subparsers: Any) -> None:
    parser = add_command(
        subparsers,
        "predict-file",
        "Writes the rows of a Parquet or CSV file with their sets, by a predictor that was saved in a folder. Memory "
        "stays the same however many rows there are.",
        _EXAMPLES,
    )
    parser.add_argument("source", type=Path, metavar="IN", help="the rows: .parquet or .csv")
    parser.add_argument("answer", type=Path, metavar="OUT", help="where they go, with their sets: .parquet or .csv")
    parser.add_argument("--predictor", type=Path, required=True, metavar="FOLDER", help="what predictor.save wrote")
    parser.add_argument(
        "--x", default="x", metavar="COLUMN", help="for a predictor without column names: the column of lists (x)"
    )
    parser.add_argument(
        "--keep", action="append", metavar="COLUMN", help="keep this column of IN alone; may be given again"
    )
    parser.add_argument("--member", type=int, metavar="M", help="replay this member instead of drawing one per row")
    parser.add_argument(
        "--groups",
        action="append",
        metavar="COLUMN",
        help="the column of the groups, if the calibration named none; again for each that crosses",
    )
    parser.add_argument("--alpha", type=float, metavar="A", help="the level, where the promise is for all alpha")
    parser.add_argument("--device", default="cpu", help="where sets are computed (cpu)")
    parser.add_argument("--restart", action="store_true", help="forget what a run that was cut off has left")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    from certiset.core.batch import SetPredictor, predict_file  # noqa: PLC0415 (loads PyTorch)

    line = LiveLine(sys.stderr)

    def told(rows: int, total: int | None) -> None:
        of = "" if total is None else f" of {total:,}, {100 * rows / max(total, 1):.0f} %"
        line.show(f"{rows:,} rows{of}", "rows")

    predictor = SetPredictor(
        options.predictor,
        x=options.x,
        keep=options.keep,
        member=options.member,
        groups=options.groups,
        alpha=options.alpha,
        device=options.device,
    )
    try:
        rows = predict_file(options.source, options.answer, predictor, told=told, restart=options.restart)
    except BaseException:
        line.end()
        raise
    line.end(f"{options.answer}: {rows:,} rows")
    if options.json:
        print_json({"file": str(options.answer), "rows": rows})
    return 0
