"""How many streams a key may hold."""

from certiset.service.http.access.streams import Streams


def test_a_key_may_hold_so_many_and_another_key_its_own() -> None:
    streams = Streams(2)
    assert [streams.take("a") for _ in range(3)] == [True, True, False]
    assert streams.take("b")
    streams.give_back("a")
    assert [streams.take("a") for _ in range(2)] == [True, False]
