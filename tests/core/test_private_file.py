"""Files with keys: who may read them."""

import os
from pathlib import Path

import pytest

from certiset.core.errors import SettingsError
from certiset.core.private_file import create_private, read_private


def test_a_new_file_is_its_owners_alone_and_never_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    create_private(file, b"first")
    create_private(file, b"second")
    assert read_private(file, "The secret") == b"first"
    assert file.stat().st_mode & 0o777 == 0o600
    assert [entry.name for entry in tmp_path.iterdir()] == ["secret"]


@pytest.mark.parametrize("mode", [0o640, 0o644, 0o604, 0o620, 0o610])
def test_an_own_file_that_others_may_use_is_refused(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "secret"
    create_private(file, b"content")
    file.chmod(mode)
    with pytest.raises(SettingsError, match=r"can be read by others: chmod 600 it"):
        read_private(file, "The secret")


@pytest.mark.skipif(os.geteuid() != 0, reason="Only root can give a file away.")
@pytest.mark.parametrize(("mode", "fine"), [(0o400, True), (0o440, True), (0o444, False), (0o660, False)])
def test_a_mounted_file_may_be_read_through_its_group(tmp_path: Path, mode: int, fine: bool) -> None:
    """As Kubernetes mounts secrets: they belong to root, and to the group of the pod."""
    file = tmp_path / "secret"
    create_private(file, b"content")
    os.chown(file, 10001, 10001)
    file.chmod(mode)
    if fine:
        assert read_private(file, "The secret") == b"content"
    else:
        with pytest.raises(SettingsError, match="chmod 440"):
            read_private(file, "The secret")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"The secret .*missing cannot be read: No such file"):
        read_private(tmp_path / "missing", "The secret")
