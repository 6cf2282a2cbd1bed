"""``certiset bench`` runs the benchmarks of a checkout."""

import json
import os
import sys
from pathlib import Path

import pytest

from benchmarks import __path__ as benchmark_folders
from certiset.service.cli.bench import BENCHMARKS
from certiset.service.cli.checkout import benchmark_process
from certiset.service.cli.errors import CommandError
from certiset.service.cli.main import main
from tests.service.cli.shell import Shell


def test_bench_knows_every_benchmark_and_no_other(offline: Shell) -> None:
    files = {file.stem for file in Path(benchmark_folders[0]).glob("*.py") if "__main__" in file.read_text()}
    assert set(BENCHMARKS) == files
    assert "There is no benchmark 'magic'" in offline("bench", "magic", code=2)


def test_benchmarks_need_a_checkout(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("certiset.service.cli.checkout._candidates", lambda: [tmp_path])
    with pytest.raises(CommandError, match="run this in a checkout of the project"):
        benchmark_process("bounds", "certiset bench")


def test_bench_runs_what_is_named(offline: Shell) -> None:
    assert "== bounds" in offline("bench", "bounds")


def test_a_benchmark_that_fails_is_told_from_one_that_succeeds(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    program = "import sys; print('measured'); sys.exit(sys.argv[1] == 'fit_speed')"
    monkeypatch.setattr(
        "certiset.service.cli.bench.benchmark_process",
        lambda name, command: ([sys.executable, "-c", program, name], dict(os.environ)),
    )
    assert main(["bench", "bounds", "fit_speed", "--json"]) == 1
    printed = capfd.readouterr()
    assert [(ran["name"], ran["exit_code"]) for ran in json.loads(printed.out)] == [("bounds", 0), ("fit_speed", 1)]
    assert printed.err == "measured\n" * 2, "standard output is for the JSON alone"
