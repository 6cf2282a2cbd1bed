"""Runs that are kept from an earlier result say so, and are not repeated."""

import io
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.evidence.experiments import page
from benchmarks.evidence.kept_runs import kept_entries
from benchmarks.evidence.measurements import Measured
from benchmarks.evidence.sweep import Cell, sweep

CELLS: list[Cell] = [{"part": part, "n": 500, "seed": seed} for part in ("ours", "size") for seed in (0, 1)]


def measured(method: str, size: float) -> Measured:
    return Measured(method, size, 0.9, None, [], None, 0.1, 1, 0.0, "", 2.0)


def earlier(**changes: Any) -> dict[str, Any]:
    runs = [cell | asdict(measured(f"{cell['part']}_{name}", 1.0)) for cell in CELLS for name in "ab"]
    return {"experiment": "toy", "versions": {"certiset": "0.1.0"}, "runs": [run | changes for run in runs]}


def work(cell: Cell, kept: Path) -> list[Measured]:
    return [measured(f"{cell['part']}_{name}", 7.0) for name in "ab"]


def test_only_the_named_parts_are_run_again(tmp_path: Path) -> None:
    entries = kept_entries(earlier(), CELLS, but=["ours"])
    assert [entry["cell"] for entry in entries] == CELLS[2:]
    assert [entry["cpu_seconds"] for entry in entries] == [4.0, 4.0]
    (tmp_path / "s.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    said = io.StringIO()
    runs = sweep("s", CELLS, work, tmp_path, 1, said).runs
    assert [run["size"] for run in runs] == [7.0] * 4 + [1.0] * 4
    assert [run.get("kept_from") for run in runs] == [None] * 4 + ["certiset 0.1.0"] * 4
    assert "2 of 4 runs were done before" in said.getvalue()
    assert "other code" not in said.getvalue()


def test_cells_that_are_not_asked_for_are_left_out() -> None:
    assert kept_entries(earlier(), CELLS[:1]) == kept_entries(earlier(), CELLS)[:1]
    assert kept_entries(earlier(), [{"part": "other", "n": 500, "seed": 0}]) == []


def test_what_was_kept_twice_still_says_where_it_comes_from() -> None:
    again = earlier(kept_from="certiset 0.0.9")
    assert {entry["kept_from"] for entry in kept_entries(again, CELLS)} == {"certiset 0.0.9"}


def test_the_page_names_the_methods_that_were_kept(tmp_path: Path) -> None:
    stored = json.loads((Path(__file__).parents[2] / "docs" / "results" / "steps.json").read_text())
    stored["runs"] = [
        run | {"kept_from": "certiset 0.0.9"} if run["method"] == "tuned_size" else run for run in stored["runs"]
    ]
    text = page(stored, tmp_path)
    assert "420 by certiset 0.0.9 (tuned size) were made earlier and kept" in text
