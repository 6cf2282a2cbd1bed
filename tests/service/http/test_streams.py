"""How many streams a key may hold."""

import contextlib

from certiset.service.http.access.streams import Streams


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
