"""How many streams a key may hold, and how often readiness is looked at."""

import pytest

from certiset.service.http.access.streams import Streams
from certiset.service.http.readiness import Readiness


def test_a_key_may_hold_so_many_and_another_key_its_own() -> None:
    streams = Streams(2)
    assert [streams.take("a") for _ in range(3)] == [True, True, False]
    assert streams.take("b")
    streams.give_back("a")
    assert [streams.take("a") for _ in range(2)] == [True, False]


class Part:
    def __init__(self) -> None:
        self.asked = 0
        self.away = False

    def ping(self) -> None:
        self.asked += 1
        if self.away:
            raise OSError("postgres://user:secret@host is away")


class Store:
    def __init__(self) -> None:
        self.database, self.artifacts = Part(), Part()


def test_readiness_is_looked_at_once_however_many_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    store, queue = Store(), Part()
    readiness = Readiness(store, queue)  # type: ignore[arg-type]
    assert all(readiness.look().ready for _ in range(100))
    assert store.database.asked == queue.asked == 1
    queue.away = True
    monkeypatch.setattr("certiset.service.http.readiness._FRESH_SECONDS", -1.0)
    found = readiness.look()
    assert (found.ready, found.database, found.broker) == (False, "ok", "away")
