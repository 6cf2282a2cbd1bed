"""Files that last as long as a block, and what a killed process left of them."""

import errno
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from certiset.core.errors import StoreFullError
from certiset.core.scratch import full_disk_refused, remove_abandoned, scratch_file


def test_a_file_has_its_content_and_is_gone_after_the_block(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    with scratch_file(folder, iter([b"a", b"", b"bc"])) as first, scratch_file(folder) as second:
        assert first.read_bytes() == b"abc"
        assert second.read_bytes() == b""
        assert sorted(folder.iterdir()) == sorted([first, second])
    with pytest.raises(KeyError), scratch_file(folder):
        raise KeyError
    assert list(folder.iterdir()) == []


def test_content_that_breaks_off_or_does_not_fit_leaves_nothing(tmp_path: Path) -> None:
    def pieces(error: Exception) -> Iterator[bytes]:
        yield b"a"
        raise error

    for error, kind in ((KeyError(), KeyError), (OSError(errno.ENOSPC, "full"), StoreFullError)):
        with pytest.raises(kind), scratch_file(tmp_path, pieces(error)):
            pytest.fail("the block was entered")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_said_to_be_full() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("There is no /dev/full here.")
    with (
        pytest.raises(StoreFullError, match="The disk has no space left"),
        full_disk_refused(),
        open("/dev/full", "wb") as full,
    ):
        full.write(bytes(10**6))
    with pytest.raises(FileNotFoundError), full_disk_refused():
        open("/nowhere/at/all", "wb").close()


def test_only_old_files_of_this_kind_are_removed(tmp_path: Path) -> None:
    for name, age in (("upload-old", 7200), ("upload-new", 60), ("other", 7200)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    remove_abandoned(tmp_path)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["other", "upload-new"]
    remove_abandoned(tmp_path / "missing")
