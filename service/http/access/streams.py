"""How many event streams a key may hold open: each one costs a look at the database several times a second."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

MOST = 32


class Streams:
    """Used from the event loop alone."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._open: Counter[str] = Counter()

    @property
    def open(self) -> int:
        """Those of all keys."""
        return self._open.total()

    def full(self, key_id: str) -> bool:
        return self._open[key_id] >= self._most

    @contextmanager
    def one_more(self, key_id: str) -> Iterator[None]:
        self._open[key_id] += 1
        try:
            yield
        finally:
            self._open[key_id] -= 1
            if not self._open[key_id]:
                del self._open[key_id]
