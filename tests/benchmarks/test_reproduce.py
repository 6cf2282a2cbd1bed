"""`certiset reproduce`: pages that say what was measured and nothing else, and sentences where data are missing."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn

import pytest

from benchmarks.evidence.__main__ import main as evidence
from benchmarks.evidence.experiments import EXPERIMENTS, page
from benchmarks.evidence.reach import reach
from benchmarks.evidence.reference import AUTHORS
from certiset.service.cli.main import main as certiset
from certiset.service.cli.reproduce import EXPERIMENTS as COMMANDS

RESULTS = Path(__file__).parents[2] / "docs" / "results"


def reproduce(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "certiset", "reproduce", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_page_is_made_of_its_runs(name: str, tmp_path: Path) -> None:
    """What stands in docs/results, words, numbers and figures, follows from the JSON file beside it."""
    stored = json.loads((RESULTS / f"{name}.json").read_text())
    assert (RESULTS / f"{name}.md").read_text() == page(stored, tmp_path)
    assert stored["command"] == f"certiset reproduce {name}"
    assert not stored["quick"]
    for link in re.findall(r"\]\(([^)]+\.svg)\)", page(stored, tmp_path)):
        assert (tmp_path / link).is_file(), link
    for figure in tmp_path.rglob("*.svg"):
        kept = RESULTS / figure.relative_to(tmp_path)
        if name != "theory":  # matplotlib's files differ between its versions
            assert kept.read_text() == figure.read_text()
        assert f"]({figure.relative_to(tmp_path)})" in (RESULTS / f"{name}.md").read_text()


def test_the_table_of_aims_is_made_of_the_stored_results() -> None:
    assert reach(RESULTS) in (RESULTS / "README.md").read_text()


def test_the_command_knows_every_experiment() -> None:
    assert set(COMMANDS) == set(EXPERIMENTS)


def test_theory_has_the_golden_values(tmp_path: Path) -> None:
    done = reproduce("theory", "--quick", "--output", str(tmp_path), "--json")
    assert done.returncode == 0, done.stderr
    runs = {run["n"]: run for run in json.loads(done.stdout)["runs"]}
    assert runs[250]["largest_k"] == {"seeger": 10, "chernoff": 14, "per_draw": 17, "vovk_2a": 5}
    assert runs[1000]["largest_k"] == {"seeger": 67, "chernoff": 77, "per_draw": 85, "vovk_2a": 61}
    (budget,) = [one for one in runs[250]["budgets"] if one["k"] == 5]
    found = [round(budget[bound], 2) for bound in ("seeger", "chernoff", "per_draw")]
    assert found == [7.64, 10.05, 13.10]
    assert (tmp_path / "theory-quick.json").exists()
    assert (tmp_path / "quick" / "theory" / "budget.svg").exists()


def test_the_authors_figures_stand_beside_ours() -> None:
    text = (RESULTS / "reference.md").read_text()
    assert sum(line.startswith("| authors' code") for line in text.splitlines()) == len(AUTHORS)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("reference", "--data", "{}"), "There are no reference data in {}"),
        (("mnist", "--data", "{}"), "{} has neither train-images-idx3-ubyte.gz nor train-images-idx3-ubyte."),
        (("toy", "--jobs", "0"), "--jobs must be at least 1."),
    ],
)
def test_what_cannot_be_done_is_a_sentence(
    words: tuple[str, ...],
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def taken_over(program: str, command: list[str], environment: dict[str, str]) -> NoReturn:
        """In this process, which has loaded what the other one would have to load."""
        assert (program, command[:3]) == (sys.executable, [sys.executable, "-m", "benchmarks.evidence"])
        assert environment["PYTHONPATH"].split(os.pathsep)[0] == str(RESULTS.parents[1])
        raise SystemExit(evidence(command[3:]))

    monkeypatch.setattr("os.execve", taken_over)
    given = [word.format(tmp_path) for word in words]
    try:
        code: Any = certiset(["reproduce", *given, "--output", str(tmp_path / "out")])
    except SystemExit as ended:
        code = ended.code
    assert code == 2
    said = capsys.readouterr().err.strip().splitlines()[-1]
    assert said.startswith(f"certiset reproduce: {sentence.format(tmp_path)}")


def test_a_quick_sweep_from_the_command_line(tmp_path: Path) -> None:
    for name in ("toy", "steps", "promises"):
        done = reproduce(name, "--quick", "--output", str(tmp_path))
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("# ")
        stored = json.loads((tmp_path / f"{name}-quick.json").read_text())
        assert stored["quick"]
        assert len({run.get("n") for run in stored["runs"]}) <= 2
        assert (tmp_path / "quick" / f"{name}.md").read_text() + "\n" == done.stdout


def test_a_quick_sweep_on_mnist(tmp_path: Path) -> None:
    folder = Path(os.environ.get("CERTISET_MNIST", RESULTS.parents[2] / "shared" / "data" / "mnist"))
    if not folder.is_dir():
        pytest.skip("needs MNIST's files: set CERTISET_MNIST to their folder")
    done = reproduce("mnist", "--quick", "--data", str(folder), "--output", str(tmp_path))
    assert done.returncode == 0, done.stderr
    page_ = (tmp_path / "quick" / "mnist.md").read_text()
    for figure in re.findall(r"\]\(([^)]+\.svg)\)", page_):
        assert (tmp_path / "quick" / figure).is_file(), figure
    stored = json.loads((tmp_path / "mnist-quick.json").read_text())
    assert {run["n"] for run in stored["runs"]} == {1000, 5000}
    assert {run["seed"] for run in stored["runs"]} == {0}
