"""Keeps stored runs of rivals, so that a sweep makes only the others again.

``python -m benchmarks.evidence.kept_runs docs/results/mnist.json docs/results/work --but ours drawn proper`` takes all
finished cells of the result into the log of the sweep, but for those of the parts that are named (of promises:
families). Each of these runs says by which version it was made, and the page says so, too.
"""

import argparse
import json
from collections.abc import Collection, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from benchmarks.evidence.measurements import Measured
from benchmarks.evidence.promises.family import Tally
from benchmarks.evidence.sweep import Cell, Entry

_MEASURED = {field.name for kind in (Measured, Tally) for field in fields(kind)}


def kept_entries(result: dict[str, Any], cells: Sequence[Cell], but: Collection[str] = ()) -> list[Entry]:
    """Of the cells that are asked for and are in the result; ``but`` names parts that are to be run again."""
    made_by = f"certiset {result['versions']['certiset']}"
    found: dict[str, Entry] = {}
    for run in result["runs"]:
        cell = {name: value for name, value in run.items() if name not in _MEASURED | {"kept_from"}}
        entry = found.setdefault(_key(cell), {"cell": cell, "runs": [], "cpu_seconds": 0.0})
        entry["kept_from"] = run.get("kept_from", made_by)
        entry["runs"].append({name: value for name, value in run.items() if name in _MEASURED})
        entry["cpu_seconds"] += run.get("cpu_seconds", 0.0)
    wanted = [found.get(_key(cell)) for cell in cells if cell.get("part", cell.get("family")) not in but]
    return [entry for entry in wanted if entry is not None]


def _key(cell: Cell) -> str:
    return json.dumps(cell, sort_keys=True)


def main() -> None:
    from benchmarks.evidence.experiments import EXPERIMENTS  # noqa: PLC0415 (which imports every experiment)

    parser = argparse.ArgumentParser(prog="python -m benchmarks.evidence.kept_runs", description=__doc__)
    parser.add_argument("result", type=Path, help="JSON file of an experiment")
    parser.add_argument("work", type=Path, help="folder in which the sweep keeps its runs")
    parser.add_argument("--but", nargs="*", default=[], metavar="PART", help="parts that are to be run again")
    options = parser.parse_args()
    result = json.loads(options.result.read_text(encoding="utf-8"))
    cells = EXPERIMENTS[result["experiment"]].cells
    if cells is None:
        parser.error(f"{result['experiment']} has no runs that could be kept.")
    entries = kept_entries(result, cells(False), options.but)
    options.work.mkdir(parents=True, exist_ok=True)
    with (options.work / f"{result['experiment']}.jsonl").open("a", encoding="utf-8") as log:
        log.writelines(json.dumps(entry) + "\n" for entry in entries)
    print(f"{len(entries)} of {len(cells(False))} cells were kept.")


if __name__ == "__main__":
    main()
