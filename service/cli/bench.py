"""``certiset bench``: the measurements of `benchmarks`, one process each."""

import argparse
import json
import subprocess
import sys
import time
from typing import Any

from certiset.service.cli.checkout import benchmark_process
from certiset.service.cli.errors import CommandError
from certiset.service.cli.parsers import add_command, described

BENCHMARKS = {
    "bounds": "the bounds on arrays, against one value at a time",
    "million_rows": "calibration of a million rows, and a whole fit by auto, against the bare forward passes",
    "single_row": "what a set for one row costs beyond the model, against a small matrix product",
    "many_rows": "sets for a file of many rows against the bare loop, and the memory that they take",
    "threads": "one thread against all of them for a tuning step, over sizes of the head",
    "queue": "many small calibrations through one worker, against the same fits in a loop",
    "overview": "the first page of the list of 10,000 predictors, against one of 100",
    "serving": "requests against an empty route, many rows against the bare model",
    "tails": "the slowest of the requests for sets against an empty route's, alone and beside another tenant's batches",
    "graphs": "an ONNX network in a confined process against the same one in this process",
    "fit_speed": "our fit against the paper's optimizer; needs the reference data",
}
_EXAMPLES = (
    "benchmarks:\n"
    + described(BENCHMARKS)
    + """
examples:
  certiset bench
  certiset bench bounds queue
  certiset bench serving --json

Runs from a checkout of the project only.

exit codes: 0 all succeeded, 1 one of them failed, 2 bad input, or not a checkout
"""
)


def register(subparsers: Any) -> None:
    parser = add_command(
        subparsers,
        "bench",
        "Runs all benchmarks, or those named, one after the other. Some take many minutes.",
        _EXAMPLES,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="benchmarks to run (default: all)")
    parser.add_argument(
        "--json", action="store_true", help="print JSON: which ran, how long they took, and their exit codes"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    unknown = next((name for name in options.names if name not in BENCHMARKS), None)
    if unknown is not None:
        raise CommandError(f"There is no benchmark {unknown!r}; choose from {', '.join(BENCHMARKS)}.")
    ran = []
    for name in options.names or BENCHMARKS:
        program, environment = benchmark_process(name, "certiset bench")
        if not options.json:
            print(f"== {name}: {BENCHMARKS[name]}", flush=True)
        begin = time.monotonic()
        # With --json, standard output is for the JSON alone.
        output = sys.stderr if options.json else None
        done = subprocess.run(program, env=environment, stdout=output, check=False)
        ran.append({"name": name, "seconds": round(time.monotonic() - begin, 3), "exit_code": done.returncode})
    if options.json:
        print(json.dumps(ran, indent=2))
    return 1 if any(one["exit_code"] for one in ran) else 0
