"""MNIST from a folder with its files, written here in miniature."""

import gzip
import json
import struct
from pathlib import Path

import numpy as np
import pytest

from certiset.core.data import read_dataset
from certiset.service.cli.main import main

ROWS = 12


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    random = np.random.default_rng(0)
    images = random.integers(256, size=(ROWS, 28, 28), dtype=np.uint8)
    labels = (np.arange(ROWS) % 10).astype(np.uint8)
    for name, array in (("images-idx3", images), ("labels-idx1", labels)):
        head = struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape)
        (tmp_path / f"t10k-{name}-ubyte.gz").write_bytes(gzip.compress(head + array.tobytes()))
    np.save(tmp_path / "images.npy", images)
    return tmp_path


def test_a_folder_becomes_a_file_that_is_ready_for_upload(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = folder / "mnist.npz"
    assert main(["data", "mnist", "--folder", str(folder), "-o", str(output)]) == 0
    assert f"certiset datasets upload {output}" in capsys.readouterr().out
    read = read_dataset(output, "mnist.npz")
    assert read.x.shape == (ROWS, 1, 28, 28)
    assert read.y_kind == "labels"
    assert np.asarray(read.x)[:, 0] == pytest.approx(np.load(folder / "images.npy") / 255)


def test_some_rows_drawn_by_seed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written = []
    for seed in ("0", "0", "1"):
        asked = ["--rows", "5", "--seed", seed, "-o", str(folder / "some.npz"), "--json"]
        assert main(["data", "mnist", "--folder", str(folder), *asked]) == 0
        assert json.loads(capsys.readouterr().out)["rows"] == 5
        written.append((folder / "some.npz").read_bytes())
    assert written[0] == written[1] != written[2]


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda file: file.write_bytes(b"nonsense"), "cannot be read"),
        (
            lambda file: file.write_bytes(gzip.compress(gzip.decompress(file.read_bytes())[:-1])),
            "not a complete idx file",
        ),
        (lambda file: file.unlink(), "has neither"),
    ],
)
def test_damaged_files_are_refused_with_a_sentence(
    folder: Path, damage: object, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    damage(folder / "t10k-images-idx3-ubyte.gz")  # type: ignore[operator]
    assert main(["data", "mnist", "--folder", str(folder), "-o", str(folder / "out.npz")]) == 2
    assert words in capsys.readouterr().err
    assert not (folder / "out.npz").exists()


def test_rows_that_are_not_there(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "mnist", "--folder", str(folder), "--rows", "13"]) == 2
    assert "--rows must be from 1 to 12" in capsys.readouterr().err
    assert main(["data", "mnist", "--folder", str(folder), "--split", "train"]) == 2
    assert "has neither train-images-idx3-ubyte.gz" in capsys.readouterr().err
