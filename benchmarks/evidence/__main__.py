"""The work of ``certiset reproduce``, as a process: ``python -m benchmarks.evidence theory --quick``."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.evidence.experiments import Order, reproduce
from benchmarks.evidence.peers.environments import PeerEnvironmentError
from benchmarks.evidence.tables import TabularDataError
from benchmarks.reference_data import ReferenceMissingError
from certiset.service.cli.errors import BAD_INPUT, INTERRUPTED
from certiset.service.cli.reproduce import EXPERIMENTS, add_arguments
from certiset.service.demo.mnist import MnistError


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="certiset reproduce")
    add_arguments(parser)
    options = parser.parse_args(arguments)
    order = Order(
        tuple(options.data),
        options.output,
        options.quick,
        options.jobs,
        alone=options.experiment != "all",
        finished=options.finished,
    )
    names = [options.experiment] if options.experiment != "all" else _all(options.data)
    try:
        results = {name: reproduce(name, order) for name in names}
    except (MnistError, PeerEnvironmentError, ReferenceMissingError, TabularDataError) as error:
        print(f"certiset reproduce: {error}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return INTERRUPTED
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


if __name__ == "__main__":
    sys.exit(main())
