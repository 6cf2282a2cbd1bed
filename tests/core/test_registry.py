"""Kinds are found by name: ours by scanning a package, foreign ones by entry points that are checked when they load."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from certiset.core.errors import OptionError, SettingsError
from certiset.core.registry import Registry
from certiset.core.sets import SET_KINDS, Intervals, PredictionSets
from certiset.core.sets.measures import MEASURES


class Entry:
    """As `importlib.metadata` gives it."""

    dist = None

    def __init__(self, name: str, found: Any) -> None:
        self.name, self.value, self._found = name, "elsewhere:Kind", found

    def load(self) -> Any:
        if isinstance(self._found, Exception):
            raise self._found
        return self._found


def registry_with(monkeypatch: pytest.MonkeyPatch, *entries: Entry) -> Registry[Any]:
    monkeypatch.setattr("certiset.core.registry.entry_points", lambda group: entries)
    return Registry("set kind", "certiset.core.sets", PredictionSets, "certiset.sets")


class Segments(Intervals):
    kind = "segment"
    code = 64


def test_our_own_kinds_are_the_files_of_the_package() -> None:
    assert list(SET_KINDS) == ["ball", "box", "interval", "labels"]
    assert "interval" in SET_KINDS
    assert "segment" not in SET_KINDS
    assert [kind.kind for kind in SET_KINDS.values()] == list(SET_KINDS)


def test_a_foreign_kind_stands_among_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    found = registry_with(monkeypatch, Entry("segment", Segments))
    assert list(found) == ["ball", "box", "interval", "labels", "segment"]
    assert found["segment"] is Segments
    assert "segment" not in found.own


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        (Entry("labels", Segments), "a set kind named 'labels', and that name is taken"),
        (Entry("broken", ModuleNotFoundError("No module named 'nowhere'")), "'broken' .* cannot be loaded: No module"),
        (Entry("wrong", dict), "'wrong' .* is not a PredictionSets"),
        (Entry("piece", Segments), "'piece' .* calls itself 'segment'"),
    ],
    ids=["taken", "broken", "another class", "another name"],
)
def test_a_foreign_kind_that_cannot_be_used_is_named(
    monkeypatch: pytest.MonkeyPatch, entry: Entry, sentence: str
) -> None:
    with pytest.raises(SettingsError, match=sentence):
        list(registry_with(monkeypatch, entry))


def test_an_unknown_kind_is_an_error_about_its_field() -> None:
    with pytest.raises(OptionError, match="set must be one of ball, box, interval, labels, not 'disc'") as caught:
        SET_KINDS.get("disc", field="set")
    assert caught.value.field == "set"


def test_sizes_count_what_every_auditor_knows() -> None:
    with pytest.raises(TypeError, match=f"must be one of {', '.join(MEASURES)}"):
        type("Odd", (Intervals,), {"measure": "furlongs"})


def install_broken_score(folder: Path) -> dict[str, str]:
    """The environment of a process that finds a package whose score cannot be imported."""
    metadata = folder / "broken_kinds-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-kinds\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[certiset.scores]\nbroken = broken_kinds:Score\n")
    return {**os.environ, "PYTHONPATH": str(folder)}


def test_a_broken_score_stops_a_worker_at_its_start(tmp_path: Path) -> None:
    environment = {**install_broken_score(tmp_path), "CERTISET_HOME": str(tmp_path / "home")}
    command = [sys.executable, "-P", "-m", "certiset.worker"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2
    assert "The score 'broken' of the package broken-kinds cannot be loaded" in done.stderr


def test_a_broken_score_does_not_make_a_certificate_invalid(tmp_path: Path) -> None:
    certificate = Path(__file__).parents[1] / "system" / "upgrade" / "deployment_0_1_0" / "certificates"
    command = [sys.executable, "-m", "certiset", "verify", str(next(certificate.glob("*.json")))]
    environment = install_broken_score(tmp_path)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 3, done.stderr
    assert "The numbers hold" in done.stdout
