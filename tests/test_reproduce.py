"""`certiset reproduce reference`: its table from what was measured, and a sentence where the data are missing."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.like_for_like import AUTHORS, MNIST_SIZES, TOY_SIZES, table

RESULTS = Path(__file__).parent.parent / "docs" / "results"


def test_the_table_is_that_of_the_stored_runs() -> None:
    stored = json.loads((RESULTS / "reference.json").read_text())
    text = table(stored)
    assert text in (RESULTS / "reference.md").read_text()
    assert sum(line.startswith("| authors' code") for line in text.splitlines()) == len(AUTHORS)
    (ours,) = [line for line in text.splitlines() if line.startswith("| ours |")]
    cells = [cell.strip(" *") for cell in ours.split("|")[2:-1]]
    for cell, n in zip(cells, MNIST_SIZES, strict=False):
        sizes = [run["size"] for run in stored["runs"] if (run["problem"], run["n"]) == ("mnist", n)]
        assert float(cell) == pytest.approx(sum(sizes) / len(sizes), abs=0.006)
    assert len(cells) == len(MNIST_SIZES) + len(TOY_SIZES)


def test_without_the_data_there_is_a_sentence(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "service", "reproduce", "reference", "--data", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(f"certiset reproduce: There are no reference data in {tmp_path}")
