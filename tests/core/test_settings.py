"""Settings from the environment, and secrets from files."""

import os
from dataclasses import fields
from pathlib import Path

import pytest

from certiset.core.errors import SettingsError
from certiset.core.settings import PREFIX, Settings

SECRET = [field.name for field in fields(Settings) if field.metadata.get("secret")]


def test_what_may_hold_a_password_or_a_key_is_marked_as_secret() -> None:
    assert SECRET == ["database_url", "broker_url", "artifacts_url", "api_keys"]


@pytest.mark.parametrize("name", SECRET)
@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_every_secret_can_come_from_a_file(tmp_path: Path, name: str, end: str) -> None:
    file = tmp_path / "value"
    file.write_bytes(f"scheme://user:p w@host/ä{end}".encode())
    read = Settings.from_environment({f"{PREFIX}{name.upper()}_FILE": str(file)})
    assert getattr(read, name) == "scheme://user:p w@host/ä"


def test_a_file_is_read_once_and_the_value_wins_over_nothing(tmp_path: Path) -> None:
    file = tmp_path / "value"
    file.write_text("sqlite:///a.db\n")
    read = Settings.from_environment({"CERTISET_DATABASE_URL_FILE": str(file), "CERTISET_DATABASE_URL": ""})
    file.unlink()
    assert read.database == "sqlite:///a.db"
    assert not read.embedded_database


def test_value_and_file_at_once_are_refused(tmp_path: Path) -> None:
    given = {"CERTISET_BROKER_URL": "redis://here", "CERTISET_BROKER_URL_FILE": str(tmp_path / "value")}
    with pytest.raises(SettingsError, match="CERTISET_BROKER_URL and CERTISET_BROKER_URL_FILE are both set"):
        Settings.from_environment(given)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [(None, "cannot be read: No such file"), (b"\n", "is empty"), (b"", "is empty"), (b"\xff\xfe", "is not text")],
)
def test_an_unusable_file_is_named_and_its_content_is_not(tmp_path: Path, content: bytes | None, sentence: str) -> None:
    file = tmp_path / "value"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(SettingsError, match=rf"{file} that CERTISET_API_KEYS_FILE names {sentence}"):
        Settings.from_environment({"CERTISET_API_KEYS_FILE": str(file)})


def test_a_folder_is_no_secret(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be read: Is a directory"):
        Settings.from_environment({"CERTISET_DATABASE_URL_FILE": str(tmp_path)})


def test_settings_that_are_not_secret_have_no_file() -> None:
    assert Settings.from_environment({"CERTISET_DEVICE_FILE": os.devnull}) == Settings()
    assert "CERTISET_DEVICE_FILE" not in Settings.variables()
    assert {"CERTISET_DEVICE", "CERTISET_SECRET_FILE", "CERTISET_DATABASE_URL_FILE"} <= Settings.variables()
