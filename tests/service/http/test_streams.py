"""How many streams a key may hold, and how often readiness is looked at."""

import contextlib

import pytest

from certiset.service.http.access.streams import Streams
from certiset.service.http.readiness import Readiness


def test_a_key_may_hold_so_many_and_another_key_its_own() -> None:
    streams = Streams(2)
    with streams.one_more("a"), streams.one_more("b"):
        assert not streams.full("a")
        with streams.one_more("a"):
            assert streams.full("a")
            assert not streams.full("b")
        assert not streams.full("a")


def test_a_stream_that_breaks_is_not_held() -> None:
    streams = Streams(1)
    with contextlib.suppress(KeyError), streams.one_more("a"):
        raise KeyError
    assert not streams.full("a")


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
