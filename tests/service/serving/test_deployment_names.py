"""Names in memory: seconds old at most while the database answers, and as they were last known while it does not."""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from certiset.core.errors import DatabaseUnavailableError, NotFoundError
from certiset.core.store.deployment_records import DeploymentRecord
from certiset.service.serving import deployment_names
from certiset.service.serving.deployment_names import DeploymentNames


class FakeStore:
    """A database with one deployment, which counts who looks, and may be away or slow."""

    def __init__(self) -> None:
        self.predictor: str | None = "pred-a"
        self.version, self.looks, self.away = 1, 0, False
        self.gate = threading.Event()
        self.gate.set()

    @contextmanager
    def reading(self) -> Iterator[Any]:
        yield SimpleNamespace(deployments=SimpleNamespace(get=self._get))

    def record(self) -> DeploymentRecord:
        return DeploymentRecord(
            tenant="ada", name="fraud", token="00" * 8, predictor_id=self.predictor, version=self.version
        )

    def switch(self, predictor: str | None) -> None:
        self.predictor, self.version = predictor, self.version + 1

    def _get(self, tenant: str, name: str) -> DeploymentRecord:
        self.looks += 1
        self.gate.wait(5)
        if self.away:
            raise DatabaseUnavailableError("away")
        if self.predictor is None or (tenant, name) != ("ada", "fraud"):
            raise NotFoundError("There is none.")
        return self.record()


class Clock:
    """Time that passes when it is told to, beside the time that really does."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.ahead, real = 0.0, time.monotonic
        fake = SimpleNamespace(monotonic=lambda: real() + self.ahead)
        monkeypatch.setattr(deployment_names, "time", fake)


@pytest.fixture(name="clock")
def clock_(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def run(test: Callable[[FakeStore, DeploymentNames, list[str]], Awaitable[None]]) -> None:
    async def inside() -> None:
        store, loaded = FakeStore(), list[str]()

        async def load(tenant: str, id: str) -> None:
            loaded.append(id)

        await test(store, DeploymentNames(store, load), loaded)  # type: ignore[arg-type]

    asyncio.run(inside())


async def predictor_of(names: DeploymentNames) -> str:
    return (await names.get("ada", "fraud")).predictor_id


def test_those_who_ask_at_once_wait_for_one_look(clock: Clock) -> None:
    async def test(store: FakeStore, names: DeploymentNames, _: list[str]) -> None:
        assert await asyncio.gather(*(predictor_of(names) for _ in range(50))) == ["pred-a"] * 50
        assert store.looks == 1
        assert await predictor_of(names) == "pred-a"
        assert store.looks == 1

    run(test)


def test_a_switch_is_seen_within_the_bound_by_everybody_who_asks(clock: Clock) -> None:
    async def test(store: FakeStore, names: DeploymentNames, loaded: list[str]) -> None:
        await predictor_of(names)
        store.switch("pred-b")
        assert await predictor_of(names) == "pred-a"
        clock.ahead += 1.5
        # Looked at in the background; nobody waits, and the next predictor is loaded before anybody needs it.
        assert await predictor_of(names) == "pred-a"
        await asyncio.sleep(0.1)
        assert (await predictor_of(names), loaded) == ("pred-b", ["pred-b"])
        store.switch("pred-c")
        clock.ahead += 60
        # After a long silence all who ask wait for the look, not the first one alone.
        assert await asyncio.gather(*(predictor_of(names) for _ in range(20))) == ["pred-c"] * 20

    run(test)


def test_while_the_database_is_away_names_stand_for_what_they_did(clock: Clock) -> None:
    async def test(store: FakeStore, names: DeploymentNames, loaded: list[str]) -> None:
        await predictor_of(names)
        store.away = True
        for _ in range(5):
            clock.ahead += 60
            assert await predictor_of(names) == "pred-a"
        with pytest.raises(DatabaseUnavailableError):
            await names.get("ada", "unknown")
        # One that hangs costs a moment, once.
        clock.ahead += 60
        store.gate.clear()
        begun = time.monotonic()
        await asyncio.gather(*(predictor_of(names) for _ in range(10)))
        assert time.monotonic() - begun < 3
        store.away = False
        store.switch("pred-b")
        store.gate.set()
        await asyncio.sleep(0.1)
        clock.ahead += 60
        assert await predictor_of(names) == "pred-b"

    run(test)


def test_a_deleted_name_is_not_found_and_a_change_made_here_is_known_at_once(clock: Clock) -> None:
    async def test(store: FakeStore, names: DeploymentNames, _: list[str]) -> None:
        await predictor_of(names)
        # A look that began before a change does not undo it.
        store.gate.clear()
        clock.ahead += 1.5
        await predictor_of(names)
        await asyncio.sleep(0.05)
        before = store.record()
        store.predictor, store.version = "pred-b", 5
        names.learn(store.record())
        store.predictor, store.version = before.predictor_id, before.version
        store.gate.set()
        await asyncio.sleep(0.1)
        assert await predictor_of(names) == "pred-b"
        store.predictor = None
        clock.ahead += 60
        with pytest.raises(NotFoundError):
            await predictor_of(names)

    run(test)
