"""The operator's commands on an empty or broken deployment; `tests/worker` has them with real workers."""

from pathlib import Path

import pytest

from certiset.core.store.schema import SCHEMA
from certiset.service.cli.main import main


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DATABASE_URL", "BROKER_URL", "HOME"):
        monkeypatch.delenv(f"CERTISET_{name}", raising=False)


def test_migrate_says_what_it_did(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["migrate", "--home", str(tmp_path)]) == 0
    assert capsys.readouterr().out == f"The database was migrated from empty to revision {SCHEMA}.\n"
    assert main(["migrate", "--home", str(tmp_path)]) == 0
    assert capsys.readouterr().out == f"The database is at revision {SCHEMA}: nothing to do.\n"


def test_jobs_of_an_empty_deployment(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = ["--home", str(tmp_path)]
    assert main(["migrate", *home]) == 0
    capsys.readouterr()
    assert main(["jobs", "list", *home]) == 0
    assert capsys.readouterr().out == "There are no calibrations.\n"
    for action in ("show", "watch", "cancel", "retry"):
        assert main(["jobs", action, "cal-1", *home]) == 2
        assert capsys.readouterr().err == "certiset jobs: There is no calibration cal-1.\n"
    assert main(["jobs", "list", "--limit", "0", *home]) == 2


@pytest.mark.parametrize(
    "words", [["jobs", "list"], ["jobs", "show", "cal-1"], ["keys", "list"], ["keys", "revoke", "k"]]
)
def test_looking_at_the_wrong_folder_makes_nothing_there(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = tmp_path / "empty"
    assert main([*words, "--home", str(empty)]) == 2
    said = capsys.readouterr().err
    assert said == (
        f"certiset {words[0]}: There is no certiset deployment in {empty}: "
        "name its folder with --home, or start one with 'certiset up'.\n"
    )
    assert not empty.exists()


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("LEASE_SECONDS", "soon", "CERTISET_LEASE_SECONDS must be a number, not 'soon'."),
        ("MAX_ATTEMPTS", "1.5", "CERTISET_MAX_ATTEMPTS must be a whole number, not '1.5'."),
        ("FIT_SECONDS", "-1", "CERTISET_FIT_SECONDS must be positive, not -1.0."),
        ("DATABASE_URL", "mysql://x", "the database must be SQLite or PostgreSQL, not mysql."),
        ("ARTIFACTS_URL", "nosuch://x", "the artifacts URL cannot be used"),
    ],
)
def test_a_wrong_setting_is_named(
    name: str,
    value: str,
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    assert main(["migrate", "--home", str(tmp_path)]) == 0
    monkeypatch.setenv(f"CERTISET_{name}", value)
    assert main(["jobs", "list", "--home", str(tmp_path)]) == 2
    assert words in capsys.readouterr().err


def test_a_database_that_is_away_is_said_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CERTISET_DATABASE_URL", "postgresql://nobody@127.0.0.1:1/nothing")
    for command in (["migrate"], ["jobs", "list"]):
        assert main(command) == 2
        assert "The database cannot be reached" in capsys.readouterr().err
