"""All formats together: no suffix means two of them, and those of other packages are read in a process of their own."""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from certiset.core.data import FORMATS, read_dataset, suffix_list, suffixes
from certiset.core.data.formats import is_sandboxed
from certiset.core.errors import DataError, FileKindError, SettingsError

PACKAGE = """
import os
import numpy as np
from certiset.core.data import FileFormat

def read(file, target, limits):
    content = file.read_text()
    if content == "abort":
        os.abort()
    if content == "bug":
        raise KeyError("a bug")
    if content == "objects":
        return np.array([None, None]), np.zeros(2)
    if content == "unequal":
        return np.zeros((3, 1)), np.zeros(2)
    if content == "large":
        return np.zeros((10**6, 10**3), dtype=np.float64), np.zeros(10**6)
    return np.full((2, 1), os.getpid()), np.arange(2)

PIDS = FileFormat(name="PIDS", suffixes=("SUFFIX",), summary="the reader's process id", read=read)
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Installs a package whose format claims a suffix."""

    def install(suffix: str) -> None:
        (tmp_path / "pids_format.py").write_text(PACKAGE.replace("SUFFIX", suffix))
        information = tmp_path / "pids-1.0.dist-info"
        information.mkdir()
        (information / "METADATA").write_text("Metadata-Version: 2.1\nName: pids\nVersion: 1.0\n")
        (information / "entry_points.txt").write_text("[certiset.formats]\npids = pids_format:PIDS\n")
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
        monkeypatch.delitem(sys.modules, "pids_format", raising=False)
        FORMATS.__dict__.pop("kinds", None)

    yield install
    FORMATS.__dict__.pop("kinds", None)


def test_suffixes_come_in_alphabetical_order() -> None:
    assert suffixes() == (".csv", ".json", ".npz", ".parquet")
    assert suffix_list() == ".csv, .json, .npz or .parquet"


def test_only_parquet_of_ours_needs_a_process_of_its_own() -> None:
    assert [name for name in ("npz", "csv", "parquet", "json") if is_sandboxed(name)] == ["parquet"]


def test_every_format_has_a_test_of_the_laws() -> None:
    tests = {file.stem.removeprefix("test_") for file in Path(__file__).parent.glob("test_*.py")}
    assert {"npz", "csv", "parquet", "json"} <= tests
    assert len({suffix for name in FORMATS for suffix in FORMATS[name].suffixes}) == len(suffixes())


@pytest.mark.parametrize("name", ["data.xlsx", "data", "data.npz.exe", ""])
def test_other_kinds_of_files_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(FileKindError, match=r"is not one of \.csv, \.json, \.npz, \.parquet") as caught:
        read_dataset(tmp_path, name)
    assert caught.value.field == "file"


def test_a_foreign_format_is_read_in_a_process_of_its_own(installed: Callable[[str], None], tmp_path: Path) -> None:
    installed(".pids")
    assert ".pids" in suffixes()
    file = tmp_path / "data.pids"
    file.write_text("fine")
    found = read_dataset(file, file.name)
    assert found.y.tolist() == [0, 1]
    assert found.x[0, 0] != os.getpid()
    for content, words in {
        "abort": "The file is not a whole PIDS file, or asks for too much memory or time: reading it failed",
        "bug": "reading it failed",
        "objects": "x must hold numbers",
        "unequal": "x has 3 rows and y has 2",
        "large": "unpacks to 8,008,000,000 bytes",
    }.items():
        file.write_text(content)
        with pytest.raises(DataError, match=words):
            read_dataset(file, file.name)


def test_two_formats_cannot_claim_one_suffix(installed: Callable[[str], None]) -> None:
    installed('.pids", ".csv')
    with pytest.raises(SettingsError, match=r"'csv' and 'pids' both claim the suffix \.csv"):
        suffixes()
