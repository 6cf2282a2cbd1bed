"""``certiset data``: public datasets as files that are ready for upload."""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from certiset.service.cli.errors import CommandError, written_to
from certiset.service.cli.parsers import add_command
from certiset.service.demo.mnist import MnistError, download_mnist, read_mnist

_EXAMPLES = """examples:
  certiset data mnist
  certiset data mnist --folder downloads/mnist --rows 5000 -o calibration.npz
  certiset datasets upload mnist.npz

The .npz file has x, images of 1 x 28 x 28 with values from 0 to 1, and y, labels. The default is the test split, on
which no model should have been trained.

exit codes: 0 done, 2 bad input, or MNIST cannot be downloaded
"""


def register(subparsers: Any) -> None:
    parser = add_command(
        subparsers,
        "data",
        "Writes calibration data to a .npz file: downloaded by torchvision, or read from a folder.",
        _EXAMPLES,
    )
    parser.add_argument("name", choices=("mnist",), metavar="NAME", help="mnist")
    parser.add_argument(
        "--folder", type=Path, metavar="DIR", help="folder with MNIST's idx files, compressed (.gz) or not"
    )
    parser.add_argument("--split", choices=("test", "train"), default="test", help="which split (default test)")
    parser.add_argument("--rows", type=int, metavar="N", help="number of rows to sample (default: all)")
    parser.add_argument("--seed", type=int, default=0, help="random seed of the sample (default 0)")
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("mnist.npz"), metavar="FILE", help="default mnist.npz"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    try:
        folder = options.folder or download_mnist(options.output.parent / "mnist-files")
        x, y = read_mnist(folder, options.split)
    except MnistError as error:
        raise CommandError(str(error)) from None
    if options.rows is not None:
        if not 1 <= options.rows <= len(y):
            raise CommandError(f"--rows must be from 1 to {len(y)}.")
        chosen = np.random.default_rng(options.seed).permutation(len(y))[: options.rows]
        x, y = x[chosen], y[chosen]
    with written_to(options.output), options.output.open("wb") as file:
        np.savez(file, x=x, y=y)
    if options.json:
        print(json.dumps({"file": str(options.output), "rows": len(y), "x_shape": list(x.shape[1:])}))
    else:
        print(f"{len(y)} rows are in {options.output}; upload them with: certiset datasets upload {options.output}")
    return 0
