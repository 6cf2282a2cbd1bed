"""``certiset bench``: the measurements of `benchmarks`, one process each."""

import argparse
import importlib.util
import json
import subprocess
import sys
import time
from typing import Any

from service.commands.errors import CommandError

BENCHMARKS = {
    "bounds": "the bounds on arrays, against one at a time",
    "million_rows": "calibration of a million rows against the bare forward passes",
    "queue": "many small calibrations through one worker, against the same fits in a loop",
    "serving": "requests against an empty route, many rows against the bare model",
    "fit_speed": "our fit against the paper's optimizer; needs the reference data",
}
_EXAMPLES = (
    "benchmarks:\n"
    + "".join(f"  {name:<13} {sentence}\n" for name, sentence in BENCHMARKS.items())
    + """
examples:
  certiset bench
  certiset bench bounds queue
  certiset bench serving --json

exit codes: 0 all ran, 1 one of them failed, 2 bad input
"""
)


def register(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "bench",
        description="Runs all benchmarks, or those that are named, one after the other. Some take many minutes.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="which (default: all)")
    parser.add_argument("--json", action="store_true", help="print JSON: which ran, how long, and how they ended")
    parser.set_defaults(run=run)


def require_benchmarks() -> None:
    if importlib.util.find_spec("benchmarks") is None:
        raise CommandError("The benchmarks are not installed here: run this in a checkout of the project.")


def run(options: argparse.Namespace) -> int:
    unknown = next((name for name in options.names if name not in BENCHMARKS), None)
    if unknown is not None:
        raise CommandError(f"There is no benchmark {unknown!r}; there are {', '.join(BENCHMARKS)}.")
    require_benchmarks()
    ran = []
    for name in options.names or BENCHMARKS:
        if not options.json:
            print(f"== {name}: {BENCHMARKS[name]}", flush=True)
        begin = time.monotonic()
        # With --json, what a benchmark says to people goes to the side.
        output = sys.stderr if options.json else None
        done = subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], stdout=output, check=False)
        ran.append({"name": name, "seconds": round(time.monotonic() - begin, 3), "exit_code": done.returncode})
    if options.json:
        print(json.dumps(ran, indent=2))
    return 1 if any(one["exit_code"] for one in ran) else 0
