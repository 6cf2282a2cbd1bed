"""Other libraries beside ours, on the same points: what they take to write, to calibrate and to ask, and their sets.

Every library has an environment of its own, in which a process does the work of all splits of one problem.
"""

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.evidence.peers.environments import (
    PACKAGES,
    PeerEnvironmentError,
    environment_of,
    process_environment,
    python_of,
)
from benchmarks.evidence.peers.measured import PeerMeasured
from benchmarks.evidence.peers.recipes import PROBLEMS, RECIPES

if TYPE_CHECKING:
    from benchmarks.evidence.sweep import Cell

SPLITS, QUICK_SPLITS = 20, 2
_LAST_WORDS = 2000


def cells(quick: bool) -> "list[Cell]":
    splits = QUICK_SPLITS if quick else SPLITS
    asked = [(problem, library) for problem in PROBLEMS for library, recipes in RECIPES.items() if problem in recipes]
    return [{"part": problem, "library": library, "splits": splits} for problem, library in asked]


def work(cell: "Cell", kept: Path) -> list[PeerMeasured]:
    """None for a library that cannot be installed here."""
    python = python_of(kept, cell["library"])
    if python is None:
        return []
    words = [cell["library"], cell["part"], str(cell["splits"]), str(kept.resolve())]
    done = subprocess.run(
        [python, "-m", "benchmarks.evidence.peers.process", *words],
        env=process_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise PeerEnvironmentError(f"{cell['library']} failed on {cell['part']}:\n{done.stderr[-_LAST_WORDS:]}")
    return [PeerMeasured(**run) for run in json.loads(done.stdout.splitlines()[-1])]


def prepare(kept: Path) -> dict[str, str]:
    """Makes the environments that are missing; the version of each library, or why it could not be installed."""
    return {library: environment_of(kept, library) for library in PACKAGES}
