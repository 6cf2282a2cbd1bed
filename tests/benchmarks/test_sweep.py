"""A sweep makes each run once, whoever interrupts it."""

import io
import json
from pathlib import Path

import pytest

from benchmarks.evidence.measurements import Measured
from benchmarks.evidence.sweep import Cell, finished, sweep

CELLS: list[Cell] = [{"part": "a", "n": n, "seed": seed} for n in (1, 2, 3) for seed in (0, 1)]


def measured(cell: Cell, kept: Path) -> list[Measured]:
    with (kept / "calls").open("a") as file:
        file.write(f"{cell['n']} {cell['seed']}\n")
    if (kept / "stop").exists() and cell["n"] == 3:
        raise KeyboardInterrupt
    size = cell["n"] + cell["seed"] / 10
    return [Measured(name, size, 0.9, None, [], None, 0.1, 1, 0.0, "", 0.0) for name in ("x", "y")]


def calls(kept: Path) -> list[str]:
    return sorted((kept / "calls").read_text().splitlines())


@pytest.mark.parametrize("jobs", [1, 2])
def test_all_runs_in_order_and_none_twice(tmp_path: Path, jobs: int) -> None:
    for _ in range(2):
        runs = sweep("s", CELLS, measured, tmp_path, jobs, io.StringIO()).runs
        assert [(run["n"], run["seed"], run["method"]) for run in runs] == [
            (cell["n"], cell["seed"], name) for cell in CELLS for name in ("x", "y")
        ]
        assert [run["size"] for run in runs][::2] == [cell["n"] + cell["seed"] / 10 for cell in CELLS]
    assert calls(tmp_path) == [f"{cell['n']} {cell['seed']}" for cell in CELLS]


def test_an_interrupted_sweep_goes_on_where_it_was(tmp_path: Path) -> None:
    (tmp_path / "stop").touch()
    with pytest.raises(KeyboardInterrupt):
        sweep("s", CELLS, measured, tmp_path, 1, io.StringIO())
    (tmp_path / "stop").unlink()
    said = io.StringIO()
    assert len(sweep("s", CELLS, measured, tmp_path, 1, said).runs) == 12
    assert "4 of 6 runs were done before" in said.getvalue()
    assert [call for call in calls(tmp_path) if not call.startswith("3")] == ["1 0", "1 1", "2 0", "2 1"]


def test_a_line_that_was_cut_off_is_run_again(tmp_path: Path) -> None:
    sweep("s", CELLS[:2], measured, tmp_path, 1, io.StringIO())
    file = tmp_path / "s.jsonl"
    file.write_text(file.read_text()[:-40])
    runs = sweep("s", CELLS[:2], measured, tmp_path, 1, io.StringIO()).runs
    assert len(runs) == 4
    assert calls(tmp_path) == ["1 0", "1 1", "1 1"]
    assert json.loads(file.read_text().splitlines()[-1])["cell"] == CELLS[1]
    sweep("s", CELLS[:2], measured, tmp_path, 1, io.StringIO())
    assert len(calls(tmp_path)) == 3


def test_what_is_finished_can_be_had_without_running_anything(tmp_path: Path) -> None:
    whole = sweep("s", CELLS[:4], measured, tmp_path, 1, io.StringIO())
    found = finished("s", CELLS, tmp_path)
    assert found.runs == whole.runs
    assert found.missing == {"a": 2}
    assert whole.missing == {}
    assert len(calls(tmp_path)) == 4


def test_other_settings_are_other_runs(tmp_path: Path) -> None:
    sweep("s", [{"part": "a", "n": 1, "seed": 0, "steps": 5}], measured, tmp_path, 1, io.StringIO())
    sweep("s", [{"part": "a", "n": 1, "seed": 0, "steps": 6}], measured, tmp_path, 1, io.StringIO())
    assert calls(tmp_path) == ["1 0", "1 0"]


def test_runs_by_other_code_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sweep("s", CELLS[:2], measured, tmp_path, 1, io.StringIO())
    said = io.StringIO()
    sweep("s", CELLS[:2], measured, tmp_path, 1, said)
    assert "other code" not in said.getvalue()
    monkeypatch.setattr("benchmarks.evidence.sweep.code_digest", lambda: "another")
    sweep("s", CELLS[:3], measured, tmp_path, 1, said)
    assert f"2 of them by other code than this: remove {tmp_path / 's.jsonl'} to run them again." in said.getvalue()
