"""Python's own work for large requests, done on the event loop in slices of a fraction of a millisecond.

A thread that runs Python holds its lock until the event loop has asked for it for a whole switch interval, and the loop
asks again after every call into torch or the system: beside one such thread a single row takes many intervals. A slice
between two turns of the loop takes the same time off it once. Requests take turns: however many there are, one slice is
done in each turn of the loop.
"""

import asyncio
from collections.abc import Iterator
from typing import TypeVar

T = TypeVar("T")


class Slices:
    """Used from the event loop alone."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()

    async def run(self, work: Iterator[T]) -> list[T]:
        """All that ``work`` yields; a slice is what it does between two of them."""
        done: list[T] = []
        while True:
            # Whoever waits for the lock gets it in the order of asking.
            async with self._turn:
                try:
                    done.append(next(work))
                except StopIteration:
                    return done
                # Still with the lock: everybody else on the loop goes first, and only then the next slice.
                await asyncio.sleep(0)


def row_slices(rows: int, numbers: int, *, at_once: int, most: int) -> Iterator[slice]:
    """Rows of so many numbers each, ``at_once`` of them, or fewer if these had more than ``most`` numbers."""
    step = max(1, min(at_once, most // max(1, numbers)))
    return (slice(start, start + step) for start in range(0, rows, step))
