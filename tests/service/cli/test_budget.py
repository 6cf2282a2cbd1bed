"""``certiset budget`` as a user types it."""

import json
from pathlib import Path

import pytest

from certiset.service.cli.main import main
from tests.service.cli.shell import Shell


def test_table_shows_budgets_and_usable_ranks(offline: Shell) -> None:
    table = offline("budget", "--n", "1000", "--alpha", "0.1", "--delta", "0.05")
    assert "0.05        50        10.35        13.79        16.70" in table
    for line in (
        "vovk 2a        61",
        "seeger        67",
        "chernoff        77",
        "per draw        85",
        "vovk 2b        85",
    ):
        assert line in table


def test_json_is_for_machines(offline: Shell) -> None:
    report = offline.json("budget", "--n", "1000", "--alpha", "0.1", "--delta", "0.05")
    assert [row["k"] for row in report["grid"]] == [20, 35, 50, 65, 80]
    assert report["grid"][2]["chernoff"] == pytest.approx(13.79, abs=0.005)
    assert report["largest_rank"] == {"vovk_2a": 61, "seeger": 67, "chernoff": 77, "per_draw": 85, "vovk_2b": 85}
    assert report["smallest_n"]["vovk_2b"] == 29


def test_levels_of_ones_own(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["budget", "--n", "99", "--alpha", "0.4", "--alpha-hat", "0.29", "0.1", "--json"]) == 0
    assert [row["k"] for row in json.loads(capsys.readouterr().out)["grid"]] == [29, 10]


def test_too_few_points_is_said_and_not_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["budget", "--n", "20"]) == 0
    assert "at least 29 calibration points are needed" in capsys.readouterr().out


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_plot_draws_the_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str) -> None:
    monkeypatch.setattr("certiset.service.figures.budget._POINTS", 12)
    file = tmp_path / f"budget.{suffix}"
    assert main(["budget", "--n", "500", "--plot", str(file)]) == 0
    start = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}[suffix]
    assert file.read_bytes().startswith(start)


def test_a_folder_that_does_not_exist_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("certiset.service.figures.budget._POINTS", 2)
    assert main(["budget", "--n", "100", "--plot", str(tmp_path / "no" / "figure.svg")]) == 2
    assert "no/figure.svg cannot be written: No such file or directory." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--n", "many"], "'many' is not a whole number."),
        (["--n", "10.5"], "'10.5' is not a whole number."),
        (["--n", "nan"], "'nan' is not a whole number."),
        (["--n", "1"], "n must be at least 2, not 1."),
        (["--n", "-5"], "n must be at least 2, not -5."),
        (["--n", "1e300"], "n must be at most 2^53, not 1e+300."),
        (["--n", "100", "--alpha", "2"], "alpha must lie strictly between 0 and 1, not 2."),
        (["--n", "100", "--alpha", "ten"], "'ten' is not a number."),
        (["--n", "100", "--delta", "nan"], "delta must be a number, not NaN."),
        (["--n", "100", "--alpha-hat", "0"], "alpha_hat must lie strictly between 0 and 1, not 0."),
        (["--n", "100", "--plot", "figure.gif"], "figure.gif must end in one of .svg, .png, .pdf to be drawn."),
        ([], "give --n, or --groups."),
    ],
)
def test_bad_input_is_a_sentence_and_exit_code_2(offline: Shell, arguments: list[str], sentence: str) -> None:
    process = offline.start("budget", *arguments)
    output, errors = process.communicate(timeout=60)
    assert (process.returncode, output) == (2, "")
    assert sentence in errors
    assert "Traceback" not in errors


def test_unknown_command_is_a_sentence_and_exit_code_2(offline: Shell) -> None:
    errors = offline("frobnicate", code=2)
    assert "frobnicate" in errors
    assert "Traceback" not in errors


def test_help_has_examples(offline: Shell) -> None:
    example = "certiset budget --n 1000 --alpha 0.1 --delta 0.05 --plot budget.svg"
    assert example in offline("budget", "--help")


def test_groups_show_their_ranks_and_what_small_ones_lack(offline: Shell, tmp_path: Path) -> None:
    report = offline.json("budget", "--groups", "north=2000", "south=400", "20")
    assert [(one["name"], one["n"], one["lacking"]) for one in report["groups"]] == [
        ("north", 2000, 0),
        ("south", 400, 0),
        ("group 3", 20, report["rows_needed"] - 20),
    ]
    file = tmp_path / "rows.csv"
    file.write_text("x,region,y\n" + "1,a,2\n" * 60 + "2,b,3\n" * 5)
    table = offline("budget", "--groups", "region", "--dataset", str(file))
    assert [line.split() for line in table.splitlines()[3:5]] == [
        ["a", "60", "2", "0.032787", "0.050000"],
        ["b", "5", "none", "31"],
    ]


@pytest.mark.parametrize("arguments", [[], ["--n", "10", "--groups", "5"], ["--groups", "many"], ["--groups", "=5"]])
def test_groups_that_make_no_sense_are_refused(arguments: list[str]) -> None:
    assert main(["budget", *arguments]) == 2
