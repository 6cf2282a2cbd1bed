"""Slices on the event loop: everybody else goes first, and requests take turns."""

import asyncio
import itertools
from collections.abc import Iterator

import pytest

from certiset.service.serving.slices import Slices, row_slices


def test_requests_take_turns_and_the_loop_turns_between_two_slices() -> None:
    seen: list[str] = []

    def work(name: str, count: int) -> Iterator[int]:
        for number in range(count):
            seen.append(name)
            yield number

    async def others() -> None:
        while True:
            seen.append(".")
            await asyncio.sleep(0)

    async def run() -> None:
        slices = Slices()
        ticks = asyncio.create_task(others())
        found = await asyncio.gather(slices.run(work("a", 5)), slices.run(work("b", 3)), slices.run(work("c", 0)))
        ticks.cancel()
        assert [*found] == [[0, 1, 2, 3, 4], [0, 1, 2], []]

    asyncio.run(run())
    assert "".join(seen).replace(".", "") == "abababaa"
    assert not any(first != "." and second != "." for first, second in itertools.pairwise(seen))


def test_an_error_is_its_own_requests_alone() -> None:
    def broken() -> Iterator[int]:
        yield 1
        raise ValueError("broken")

    async def run() -> None:
        slices = Slices()
        failed, fine = await asyncio.gather(slices.run(broken()), slices.run(iter("xyz")), return_exceptions=True)
        assert isinstance(failed, ValueError)
        assert fine == ["x", "y", "z"]

    asyncio.run(run())


@pytest.mark.parametrize(("rows", "numbers"), [(0, 1), (1, 10**6), (200, 10), (200, 100), (65, 0)])
def test_slices_of_rows_are_all_rows_and_never_many(rows: int, numbers: int) -> None:
    slices = list(row_slices(rows, numbers, at_once=64, most=1000))
    assert [row for part in slices for row in range(rows)[part]] == list(range(rows))
    for part in slices:
        count = len(range(rows)[part])
        assert count == 1 or (count <= 64 and count * numbers <= 1000)
