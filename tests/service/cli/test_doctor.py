"""`certiset doctor` on deployments that are healthy, and on some that are really broken."""

import contextlib
import json
import os
from pathlib import Path
from typing import Any

import psycopg
import pytest

from certiset.core.certificate.signing import Signer
from certiset.core.store import Database
from certiset.core.store.migrate import migrate
from certiset.core.store.schema import SCHEMA
from certiset.service.cli.main import main
from certiset.service.http.access.secret import read_secret
from tests.servers import REDIS, free_port, postgres_database


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("CERTISET_")]:
        monkeypatch.delenv(name)


@pytest.fixture(name="home")
def home_(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A deployment that has been started once."""
    home = tmp_path / "home"
    assert main(["migrate", "--home", str(home)]) == 0
    read_secret(home / "secret")
    Signer.from_file_or_new(home / "signing.pem")
    capsys.readouterr()
    return home


class Doctor:
    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self.code = -1

    def __call__(self, home: Path) -> dict[str, dict[str, Any]]:
        """The findings, by the name of the check."""
        self.code = main(["doctor", "--json", "--home", str(home)])
        answer = json.loads(self._capsys.readouterr().out)
        assert answer["healthy"] == (self.code == 0)
        return {finding["check"]: finding for finding in answer["findings"]}


@pytest.fixture(name="doctor")
def doctor_(capsys: pytest.CaptureFixture[str]) -> Doctor:
    return Doctor(capsys)


def test_a_healthy_deployment(home: Path, doctor: Doctor) -> None:
    before = sorted(path.name for path in home.iterdir())
    found = doctor(home)
    assert doctor.code == 0
    assert [found[name]["state"] for name in ("database", "clock", "broker", "artifacts")] == ["ok"] * 4
    assert [found[name]["state"] for name in ("settings", "secret", "signing key", "devices")] == ["ok"] * 4
    assert SCHEMA in found["database"]["message"]
    assert {"open files", "memory", "processes", "disk"} <= set(found)
    assert not [path for path in (home / "artifacts").rglob("*") if path.is_file()], "the probe is gone"
    assert set(before) >= {path.name for path in home.iterdir()} - {"artifacts"}


def test_one_line_a_check(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--home", str(home)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) >= 12
    assert all(line.split()[0] in ("ok", "warning", "failed") for line in lines)


def test_an_empty_folder_stays_empty(tmp_path: Path, doctor: Doctor) -> None:
    found = doctor(tmp_path)
    assert doctor.code == 1
    assert "certiset up" in found["database"]["message"]
    assert list(tmp_path.iterdir()) == []


def test_an_unwritable_store(home: Path, doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    """/proc is a folder in which nobody, not even root, can make a file."""
    monkeypatch.setenv("CERTISET_ARTIFACTS_URL", "/proc/artifacts")
    found = doctor(home)
    assert doctor.code == 1
    assert found["artifacts"]["state"] == "failed"
    assert "CERTISET_ARTIFACTS_URL" in found["artifacts"]["message"]
    assert found["database"]["state"] == "ok"


@pytest.mark.parametrize(("name", "check"), [("secret", "secret"), ("signing.pem", "signing key")])
def test_keys_that_others_may_read(home: Path, doctor: Doctor, name: str, check: str) -> None:
    (home / name).chmod(0o644)
    found = doctor(home)
    assert doctor.code == 1
    assert found[check]["state"] == "failed"
    assert "chmod 600" in found[check]["message"]


@pytest.mark.parametrize(("name", "check"), [("secret", "secret"), ("signing.pem", "signing key")])
def test_missing_keys_are_a_warning_and_are_not_made(home: Path, doctor: Doctor, name: str, check: str) -> None:
    (home / name).unlink()
    found = doctor(home)
    assert (doctor.code, found[check]["state"]) == (0, "warning")
    assert not (home / name).exists()


def test_a_damaged_signing_key(home: Path, doctor: Doctor) -> None:
    (home / "signing.pem").write_text("nothing")
    assert "not a private key" in doctor(home)["signing key"]["message"]
    assert doctor.code == 1


def test_postgresql_from_empty_to_healthy_to_read_only(
    home: Path, doctor: Doctor, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with postgres_database() as url:
        file = tmp_path / "url"
        file.write_text(f"{url}\n")
        file.chmod(0o600)
        monkeypatch.setenv("CERTISET_DATABASE_URL_FILE", str(file))
        monkeypatch.setenv("CERTISET_BROKER_URL", f"{REDIS}/0")
        empty = doctor(home)
        assert doctor.code == 1
        assert "run 'certiset migrate'" in empty["database"]["message"]
        with contextlib.closing(Database(url)) as database:
            migrate(database)
        healthy = doctor(home)
        assert doctor.code == 0
        assert "PostgreSQL" in healthy["database"]["message"]
        assert [healthy[name]["state"] for name in ("clock", "broker", "database url")] == ["ok"] * 3
        name = url.rsplit("/", 1)[1]
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"alter database {name} set default_transaction_read_only = on")
        read_only = doctor(home)
        assert doctor.code == 1
        assert "read-only" in read_only["database"]["message"]


def test_servers_that_are_away(home: Path, doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CERTISET_DATABASE_URL", f"postgresql://someone:hidden@127.0.0.1:{free_port()}/none")
    monkeypatch.setenv("CERTISET_BROKER_URL", f"redis://:hidden@127.0.0.1:{free_port()}/0")
    found = doctor(home)
    assert doctor.code == 1
    assert [found[name]["state"] for name in ("database", "broker")] == ["failed"] * 2
    assert "hidden" not in json.dumps(found)


def test_a_secret_file_that_every_user_may_read(
    home: Path, doctor: Doctor, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "keys"
    file.write_text("cs_key")
    file.chmod(0o644)
    monkeypatch.setenv("CERTISET_API_KEYS_FILE", str(file))
    found = doctor(home)
    assert (doctor.code, found["api keys"]["state"]) == (0, "warning")


def test_unusable_and_misspelt_settings(home: Path, doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CERTISET_RATELIMIT", "5")
    assert "did you mean CERTISET_RATE_LIMIT?" in doctor(home)["settings"]["message"]
    assert doctor.code == 0
    monkeypatch.setenv("CERTISET_DATABASE_URL_FILE", str(home / "missing"))
    assert "CERTISET_DATABASE_URL_FILE" in doctor(home)["settings"]["message"]
    assert doctor.code == 1


def test_a_gpu_that_is_demanded_and_not_there(home: Path, doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    monkeypatch.setenv("CERTISET_DEVICE", "cuda")
    assert "sees no GPU" in doctor(home)["devices"]["message"]
    assert doctor.code == 1
