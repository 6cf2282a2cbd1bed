"""A stored file is whole and unchanged, or an error that names it."""

import hashlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certiset.core.errors import ArtifactsUnavailableError, DamagedFileError, SettingsError, StoreFullError
from certiset.core.settings import Settings
from certiset.core.store import Artifacts, Store
from certiset.core.store.garbage import collect_garbage, orphans
from tests.core.store.records import a_calibration, a_dataset
from tests.databases import new_store
from tests.disks import small_disk
from tests.servers import free_port, wait_until

CONTENT = bytes(range(256)) * 40


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    """An S3-compatible server, over real HTTP."""
    port = free_port()
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-p", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    names = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_DEFAULT_REGION": "us-east-1"}
    patch = pytest.MonkeyPatch()
    for name, value in (names | {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}"}).items():
        patch.setenv(name, value)
    import s3fs  # noqa: PLC0415 (reads the environment)

    def made() -> bool:
        try:
            fs = s3fs.S3FileSystem(skip_instance_cache=True)
            fs.mkdir("bucket")
        except OSError:
            return False
        return True

    try:
        wait_until(made, 30, "the S3 server")
        yield "s3://bucket/some/prefix"
    finally:
        patch.undo()
        server.kill()
        server.wait()


@pytest.fixture(params=["folder", "memory", "s3"])
def artifacts(request: pytest.FixtureRequest, tmp_path: Path) -> Artifacts:
    if request.param == "folder":
        return Artifacts(str(tmp_path / "artifacts"))
    return Artifacts("memory://artifacts" if request.param == "memory" else request.getfixturevalue("s3"))


def test_what_was_put_comes_back_under_its_sha256(artifacts: Artifacts) -> None:
    name = artifacts.put(CONTENT)
    assert name == hashlib.sha256(CONTENT).hexdigest()
    assert artifacts.get(name) == CONTENT
    assert artifacts.exists(name)
    assert artifacts.put(CONTENT) == name
    assert [file.sha256 for file in artifacts.files()] == [name]
    artifacts.ping()
    assert [file.sha256 for file in artifacts.files()] == [name]
    (file,) = artifacts.files()
    assert abs(file.modified - time.time()) < 60
    assert artifacts.discard(file, older_than=-60)
    assert list(artifacts.files()) == []


def test_a_missing_file_is_an_error_that_names_it(artifacts: Artifacts) -> None:
    with pytest.raises(DamagedFileError, match="0" * 64 + " is missing"):
        artifacts.get("0" * 64)


def test_content_comes_in_pieces_and_a_damaged_one_ends_in_an_error(
    artifacts: Artifacts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("certiset.core.store.artifacts._LARGE_PIECE", 4000)
    name = artifacts.put(CONTENT)
    assert [len(piece) for piece in artifacts.pieces(name)] == [4000, 4000, 2240]
    assert b"".join(artifacts.pieces(name)) == CONTENT
    assert artifacts.intact(name)
    fs, path = artifacts._fs, artifacts._path(name)
    fs.pipe_file(path, CONTENT[:-1] + b"x")
    assert not artifacts.intact(name)
    with pytest.raises(DamagedFileError, match=f"{name} is damaged"):
        list(artifacts.pieces(name))
    fs.rm_file(path)
    fs.invalidate_cache()
    assert not artifacts.intact(name)
    with pytest.raises(DamagedFileError, match=f"{name} is missing"):
        list(artifacts.pieces(name))


def stored(tmp_path: Path) -> tuple[Artifacts, str, Path]:
    artifacts = Artifacts(str(tmp_path))
    name = artifacts.put(CONTENT)
    return artifacts, name, tmp_path / name[:2] / name


@pytest.mark.parametrize("length", [0, 1, len(CONTENT) // 2, len(CONTENT) - 1])
def test_a_file_that_was_cut_is_an_error_that_names_it(tmp_path: Path, length: int) -> None:
    artifacts, name, file = stored(tmp_path)
    file.write_bytes(CONTENT[:length])
    with pytest.raises(DamagedFileError, match=f"{name} is damaged"):
        artifacts.get(name)


@given(place=st.integers(0, len(CONTENT) - 1), change=st.integers(1, 255))
def test_one_changed_byte_is_an_error(tmp_path_factory: pytest.TempPathFactory, place: int, change: int) -> None:
    artifacts, name, file = stored(tmp_path_factory.mktemp("a"))
    changed = bytearray(CONTENT)
    changed[place] ^= change
    file.write_bytes(changed)
    with pytest.raises(DamagedFileError, match=f"{name} is damaged"):
        artifacts.get(name)


def test_putting_the_content_again_heals_a_damaged_file(tmp_path: Path) -> None:
    artifacts, name, file = stored(tmp_path)
    file.write_bytes(b"wrong")
    artifacts.put(CONTENT)
    assert artifacts.get(name) == CONTENT


@pytest.mark.parametrize("name", ["../../etc/passwd", "", "a" * 63, "A" * 64, "a" * 64 + "\n"])
def test_only_a_sha256_is_a_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(DamagedFileError, match="not the name of a stored file"):
        Artifacts(str(tmp_path)).get(name)


def test_an_unknown_kind_of_store_is_refused() -> None:
    with pytest.raises(SettingsError, match="artifacts URL"):
        Artifacts("nosuch://x")


def test_a_full_disk_is_a_clear_error_and_leaves_nothing_behind(tmp_path: Path) -> None:
    with small_disk(tmp_path, 2) as disk:
        artifacts = Artifacts(str(disk))
        kept = artifacts.put(b"small")
        with pytest.raises(StoreFullError, match="no space left"):
            artifacts.put(os.urandom(4 * 2**20))
        assert [file.sha256 for file in artifacts.files()] == [kept]
        filler = disk / "filler"
        filler.write_bytes(bytes(2**20))
        content = os.urandom(3 * 2**19)
        with pytest.raises(StoreFullError, match="no space left"):
            artifacts.put(content)
        filler.unlink()
        assert artifacts.get(artifacts.put(content)) == content


def assert_unavailable(artifacts: Artifacts) -> None:
    for step in (lambda: artifacts.put(CONTENT), lambda: artifacts.get("0" * 64), artifacts.ping):
        with pytest.raises(ArtifactsUnavailableError, match=r"cannot be (written|read): ") as caught:
            step()
        assert "127.0.0.1" not in str(caught.value)


def test_a_folder_that_cannot_be_used_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert_unavailable(Artifacts(str(tmp_path / "file" / "folder")))


def test_an_s3_server_that_does_not_answer_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    import s3fs  # noqa: PLC0415 (reads the environment)

    names = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_DEFAULT_REGION": "us-east-1"}
    for name, value in (names | {"AWS_ENDPOINT_URL": "http://127.0.0.1:1", "AWS_MAX_ATTEMPTS": "1"}).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(s3fs.S3FileSystem, "retries", 1)
    s3fs.S3FileSystem.clear_instance_cache()
    try:
        assert_unavailable(Artifacts("s3://bucket/some/prefix"))
    finally:
        s3fs.S3FileSystem.clear_instance_cache()


def test_a_writer_that_is_killed_leaves_no_name_without_its_content(tmp_path: Path) -> None:
    # A fork for each writer: importing takes longer than all that they write.
    program = (
        "import os, sys; from certiset.core.store import Artifacts\n"
        "a = Artifacts(sys.argv[1])\n"
        "for line in sys.stdin:\n"
        "    writer = os.fork()\n"
        "    while not writer: a.put(os.urandom(8 * 2**20))\n"
        "    print(writer, flush=True); os.waitpid(writer, 0); print('ended', flush=True)"
    )
    artifacts = Artifacts(str(tmp_path))
    command = [sys.executable, "-c", program, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writers:
        assert writers.stdin is not None
        assert writers.stdout is not None
        for pause in (0.01, 0.05, 0.08, 0.11, 0.2):
            print("go", file=writers.stdin, flush=True)
            writer = int(writers.stdout.readline())
            time.sleep(pause)
            os.kill(writer, signal.SIGKILL)
            assert writers.stdout.readline() == "ended\n"
            for file in artifacts.files():
                if file.sha256 is not None:
                    artifacts.get(file.sha256)


def a_store(tmp_path: Path) -> Store:
    return new_store(Settings(home=tmp_path))


def test_garbage_is_what_no_record_names_and_is_old_enough(tmp_path: Path) -> None:
    store = a_store(tmp_path)
    named, unnamed = store.artifacts.put(b"named"), store.artifacts.put(b"unnamed")
    a_dataset(store, artifact=named)
    left = tmp_path / "artifacts" / "tmp" / ("0" * 32)
    left.write_bytes(b"half")
    assert orphans(store, older_than=60) == []
    assert {file.sha256 for file in orphans(store, older_than=-1)} == {unnamed, None}
    assert len(collect_garbage(store, older_than=-1)) == 2
    assert [file.sha256 for file in store.artifacts.files()] == [named]
    store.close()


def test_files_that_are_not_ours_are_left_alone(tmp_path: Path) -> None:
    store = a_store(tmp_path)
    store.artifacts.put(b"ours")
    others = [tmp_path / "artifacts" / name for name in ("payroll.xlsx", "ab/other.db", "tmp/notes.txt", "a" * 64)]
    for other in others:
        other.parent.mkdir(exist_ok=True)
        other.write_bytes(b"theirs")
    assert len(collect_garbage(store, older_than=-1)) == 1
    assert all(other.exists() for other in others)
    store.close()


def test_the_data_of_a_running_calibration_are_not_garbage_though_the_dataset_is_deleted(tmp_path: Path) -> None:
    store = a_store(tmp_path)
    name = store.artifacts.put(b"data")
    calibration = a_calibration(store)
    with store.writing() as work:
        work.calibrations.find(calibration.id).dataset_artifact = name  # type: ignore[union-attr]
        work.datasets.delete(work.datasets.get("ada", calibration.dataset_id))
    assert collect_garbage(store, older_than=-1) == []
    with store.writing() as work:
        work.calibrations.cancel(calibration.id)
    assert [file.sha256 for file in collect_garbage(store, older_than=-1)] == [name]
    store.close()


def test_a_file_that_was_written_anew_is_not_discarded(tmp_path: Path) -> None:
    artifacts = Artifacts(str(tmp_path))
    name = artifacts.put(CONTENT)
    (listed,) = artifacts.files()
    os.utime(listed.path, (0, 0))
    (listed,) = artifacts.files()
    artifacts.put(CONTENT)
    assert not artifacts.discard(listed, older_than=60)
    assert artifacts.get(name) == CONTENT


def test_an_s3_server_that_is_frozen_is_unavailable_in_time_and_then_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    import s3fs  # noqa: PLC0415 (reads the environment)

    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{silent.getsockname()[1]}")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        s3fs.S3FileSystem.clear_instance_cache()
        artifacts = Artifacts("s3://bucket/frozen", seconds=1)
        begin = time.monotonic()
        with pytest.raises(ArtifactsUnavailableError, match="The artifact store cannot be read: it does not answer"):
            artifacts.exists("0" * 64)
        assert time.monotonic() - begin < 8
        with pytest.raises(ArtifactsUnavailableError, match="did not answer a moment ago"):
            artifacts.put(b"content")
        s3fs.S3FileSystem.clear_instance_cache()
