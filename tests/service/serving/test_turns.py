"""Whose rows come next, and what a tenant may hold."""

from dataclasses import dataclass

import anyio

from certiset.service.serving.turns import Turns
from certiset.service.shares import Shares, Slots


@dataclass(eq=False)
class Request:
    tenant: str
    rows: int
    price: float = 1.0
    is_over: bool = False


def order(turns: Turns[Request]) -> list[tuple[str, int]]:
    """(tenant, rows) of every turn until nobody waits."""
    found = []
    while pieces := turns.next():
        found.append((pieces[0].request.tenant, sum(piece.end - piece.start for piece in pieces)))
    return found


def test_a_large_request_is_cut_and_others_have_their_turn_between_its_pieces() -> None:
    turns: Turns[Request] = Turns(100)
    turns.add(Request("eve", 1000))
    turns.add(Request("ada", 150))
    assert order(turns)[:4] == [("eve", 100), ("ada", 100), ("eve", 100), ("ada", 50)]
    assert not turns


def test_every_row_is_computed_once_and_in_order() -> None:
    turns: Turns[Request] = Turns(7)
    requests = [Request("ada", 20), Request("ada", 1), Request("ada", 13, price=3.0)]
    for request in requests:
        turns.add(request)
    done = {id(request): 0 for request in requests}
    while pieces := turns.next():
        for piece in pieces:
            assert piece.start == done[id(piece.request)]
            done[id(piece.request)] = piece.end
    assert [done[id(request)] for request in requests] == [20, 1, 13]


def test_a_small_request_does_not_wait_for_a_large_one_of_the_same_tenant() -> None:
    turns: Turns[Request] = Turns(100)
    large, small = Request("ada", 10_000), Request("ada", 10)
    turns.add(large)
    turns.add(small)
    assert [piece.request for piece in turns.next()] == [large]
    assert [piece.request for piece in turns.next()] == [small, large]


def test_tenants_get_the_same_amount_of_work_however_many_requests_and_rows_they_send() -> None:
    turns: Turns[Request] = Turns(100)
    for _ in range(50):
        turns.add(Request("eve", 1000, price=7.0))
    turns.add(Request("ada", 1000, price=3.0))
    spent = {"ada": 0.0, "eve": 0.0}
    for _ in range(40):
        for piece in turns.next():
            spent[piece.request.tenant] += (piece.end - piece.start) * piece.request.price
    assert abs(spent["ada"] - spent["eve"]) <= 200


def test_rows_dearer_than_a_turn_are_paid_for_by_waiting() -> None:
    turns: Turns[Request] = Turns(100)
    turns.add(Request("eve", 10, price=1000.0))
    turns.add(Request("ada", 1000))
    tenants = [tenant for tenant, _ in order(turns)]
    assert tenants[0] == "eve"
    assert tenants[1:10] == ["ada"] * 9


def test_a_charge_for_what_turned_out_dearer_is_paid_for_by_waiting_too() -> None:
    turns: Turns[Request] = Turns(100)
    turns.add(Request("eve", 1000))
    turns.add(Request("ada", 1000))
    assert turns.next()[0].request.tenant == "eve"
    turns.charge("eve", 250)
    turns.charge("nobody", 300)
    assert [turns.next()[0].request.tenant for _ in range(4)] == ["ada", "ada", "ada", "eve"]


def test_nothing_is_computed_for_requests_that_are_over() -> None:
    turns: Turns[Request] = Turns(100)
    turns.add(Request("eve", 1000, is_over=True))
    turns.add(Request("ada", 10))
    assert order(turns) == [("ada", 10)]


def test_one_tenant_holds_at_most_half_and_another_always_something() -> None:
    shares = Shares(6400)
    assert shares.take("eve", 3000) == 3000
    assert shares.take("eve", 300) is None
    assert shares.take("bob", 10**9) == 3200, "more than a half is let in alone, and counted as a half"
    assert shares.take("ada", 300) is None, "only 200 are left"
    assert shares.take("ada", 100) == 100, "but a little is always accepted"
    assert shares.take("ada", 100) == 100
    shares.give_back("eve", 3000)
    assert shares.take("ada", 300) == 300
    for tenant, counted in (("bob", 3200), ("ada", 100), ("ada", 100), ("ada", 300)):
        shares.give_back(tenant, counted)
    assert shares.all == 0


async def _slots() -> None:
    slots = Slots(1)
    first = slots.of("ada")
    assert slots.of("ada") is first
    assert slots.of("eve") is not first
    await first.acquire_on_behalf_of("work")
    for number in range(2000):
        slots.of(f"tenant {number}")
    assert slots.of("ada") is first, "what is in use is not forgotten"
    assert len(slots._limiters) <= 1001


def test_slots_of_one_tenant_are_not_those_of_another() -> None:
    anyio.run(_slots)
