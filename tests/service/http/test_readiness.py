"""Ready to serve sets, and what is degraded: looked at once however many ask, never held up by a part that hangs."""

import asyncio
import errno
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from certiset.core.errors import (
    ArtifactsReadOnlyError,
    ArtifactsUnavailableError,
    DatabaseBusyError,
    DatabaseReadOnlyError,
    DatabaseUnavailableError,
    StoreFullError,
)
from certiset.core.resources import Ready
from certiset.service.http.readiness import Readiness


class Part:
    def __init__(self) -> None:
        self.asked = 0
        self.error: Exception | None = None
        self.answers = threading.Event()
        self.answers.set()

    def ping(self) -> None:
        self.asked += 1
        self.answers.wait()
        if self.error is not None:
            raise self.error


class Parts:
    def __init__(self, home: Path, *, memory: bool = False) -> None:
        self.database, self.artifacts, self.broker = Part(), Part(), Part()
        store: Any = SimpleNamespace(
            database=self.database, artifacts=self.artifacts, settings=SimpleNamespace(home=home)
        )
        self.readiness = Readiness(store, self.broker, lambda: memory)

    def look(self) -> Ready:
        return asyncio.run(self.readiness.look())


def test_readiness_is_looked_at_once_however_many_ask(tmp_path: Path) -> None:
    parts = Parts(tmp_path)

    async def many() -> list[Ready]:
        return await asyncio.gather(*(parts.readiness.look() for _ in range(100)))

    assert all(found.ready for found in asyncio.run(many()))
    assert parts.look().ready
    assert parts.database.asked == parts.broker.asked == parts.artifacts.asked == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("part", "error", "state", "ready"),
    [
        ("broker", OSError("redis://user:secret@host is away"), "unavailable", True),
        ("database", DatabaseUnavailableError("Away."), "unavailable", False),
        ("database", DatabaseReadOnlyError("Standby."), "read-only", True),
        ("database", DatabaseBusyError("Busy."), "busy", True),
        ("database", StoreFullError("Full."), "full", True),
        ("artifacts", ArtifactsUnavailableError("Away."), "unavailable", False),
        ("artifacts", ArtifactsReadOnlyError("Read-only."), "read-only", True),
        ("artifacts", StoreFullError("Full."), "full", True),
    ],
)
def test_a_part_s_state_is_named_and_only_what_sets_need_is_needed(
    tmp_path: Path, part: str, error: Exception, state: str, ready: bool
) -> None:
    parts = Parts(tmp_path)
    getattr(parts, part).error = error
    found = parts.look()
    assert (found.ready, getattr(found, part)) == (ready, state)
    assert sorted(found.model_dump().values(), key=str).count("ok") == 3


def test_sets_in_memory_are_enough(tmp_path: Path) -> None:
    parts = Parts(tmp_path, memory=True)
    for part in (parts.database, parts.broker, parts.artifacts):
        part.error = DatabaseUnavailableError("Away.")
    found = parts.look()
    assert (found.ready, found.database, found.broker, found.artifacts) == (True, *["unavailable"] * 3)


def test_a_part_that_hangs_is_unavailable_in_time_and_asked_by_one_thread_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("certiset.service.http.readiness._FRESH_SECONDS", -1.0)
    monkeypatch.setattr("certiset.service.http.readiness._DEADLINE_SECONDS", 0.3)
    parts = Parts(tmp_path)
    parts.artifacts.answers.clear()

    async def twice() -> tuple[Ready, float, Ready]:
        first = await parts.readiness.look()
        begin = time.monotonic()
        second = await parts.readiness.look()
        took = time.monotonic() - begin
        parts.artifacts.answers.set()
        await asyncio.sleep(0.2)
        assert (await parts.readiness.look()).artifacts == "ok"
        return first, took, second

    first, took, second = asyncio.run(twice())
    assert (first.artifacts, first.database) == (second.artifacts, second.database) == ("unavailable", "ok")
    assert took < 0.3
    assert parts.artifacts.asked == 2


def test_a_full_disk_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_space(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", no_space)
    found = Parts(tmp_path).look()
    assert (found.ready, found.disk) == (True, "full")
