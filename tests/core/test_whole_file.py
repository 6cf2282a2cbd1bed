"""A file is there as a whole, or not at all, whatever happens while it is written."""

from pathlib import Path

import pytest

from certiset.core.whole_file import written_whole


def test_the_file_appears_when_all_of_it_was_written(tmp_path: Path) -> None:
    file = tmp_path / "file"
    with written_whole(file) as stream:
        stream.write(b"one")
        stream.flush()
        assert not file.exists()
    assert file.read_bytes() == b"one"
    assert file.stat().st_mode & 0o777 == 0o600
    with written_whole(file) as stream:
        stream.write(b"two")
    assert file.read_bytes() == b"two"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("before", [None, b"before"])
def test_what_is_broken_off_leaves_nothing_behind_and_changes_nothing(tmp_path: Path, before: bytes | None) -> None:
    file = tmp_path / "file"
    if before is not None:
        file.write_bytes(before)

    def interrupted() -> None:
        with written_whole(file) as stream:
            stream.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert [found.read_bytes() for found in tmp_path.iterdir()] == ([] if before is None else [before])


def test_without_replacing_the_first_one_stays(tmp_path: Path) -> None:
    file = tmp_path / "file"
    with written_whole(file, replace=False) as stream:
        stream.write(b"slower")
        file.write_bytes(b"first")
    assert file.read_bytes() == b"first"
    assert list(tmp_path.iterdir()) == [file]
